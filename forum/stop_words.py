"""English and French function words: too common to search by, and the cheapest sign of a text's language."""

from __future__ import annotations

ENGLISH = frozenset(
    """
    a about above actually after again against all almost alone along already also although always am among an and
    another any anybody anyone anything anyway are aren around as at away be became because become been before being
    below between both but by can cannot could couldn did didn do does doesn doing don done down during each either
    else enough etc even ever every everybody everyone everything few for from further get gets getting given go goes
    going gonna got had hadn has hasn have haven having he hello her here hers herself hey hi him himself his how
    however i if in indeed instead into is isn it its itself just kind know let lets like ll made make makes many may
    maybe me mean might mine more most much must my myself need needs neither never no nobody none nor not nothing now
    of off often ok okay on once one only onto or other others otherwise our ours ourselves out over own per perhaps
    please possible put quite rather re really s said same say says see seem seems shall she should shouldn since so
    some somebody someone something sometimes somewhere still such sure t take tell than thank thanks that the their
    theirs them themselves then there therefore these they thing things think this those though through thus to
    together too toward towards try trying two under unless until up upon us use used using ve very via want wants was
    wasn way we well went were weren what whatever when whenever where whether which while who whoever whole whom whose
    why will with within without won would wouldn yes yet you your yours yourself yourselves
    """.split()
)

FRENCH = frozenset(
    """
    a ai aie aient aies ait afin ainsi ait alors apres après as assez au aucun aucune aujourd aujourd'hui auquel aura
    aurai auraient aurais aurait auras aurez auriez aurions aurons auront aussi autant autre autres aux auxquels avaient
    avais avait avant avec avez aviez avions avoir avons ayant beaucoup bien bon bonjour bonsoir c ca ça car ce ceci
    cela celle celles celui cependant certains ces cet cette ceux chacun chaque chez ci combien comme comment contre d
    dans de deja déjà depuis des desquels deux devait devant devoir devrait doit doivent donc dont du duquel dès elle
    elles en encore enfin ensuite entre es est et etaient etais etait etant etc ete etes etre eu eux faire fais fait
    faites faut fois font grace grâce hors hui il ils j jamais je jusqu jusque l la laquelle le lequel les lesquelles
    lesquels leur leurs lors lorsqu lorsque lui là m ma mais malgré me merci mes mieux moi moins mon même memes mêmes n
    ne ni non nos notre nous nôtre on ont ou oui où par parce parfois parmi pas pendant peu peut peux peuvent plus
    plusieurs plutôt pour pourquoi pourra pourrais pourrait pouvait pouvez pouvoir pouvons puis puisqu puisque qu quand
    quel quelle quelles quelqu quelque quelques quels qui quoi que rien s sa salut sans savoir se selon sera serai
    seraient serais serait seras serez seront ses seul seulement si sinon soient sois soit sommes son sont sous souvent
    suis sur t ta tandis tant te tel telle telles tels tes toi ton toujours tous tout toute toutefois toutes tres très
    trop tu un une va vais vers veut veux voici voilà voir vont vos votre vous vraiment vu y à étaient étais était étant
    étiez étions été êtes être
    """.split()
)

#: A function word here, a thing there: these stay searchable in the other language's texts.
_MEANS_SOMETHING_IN_ENGLISH = frozenset("car grace hors lui son sera seras seul ton vers".split())
_MEANS_SOMETHING_IN_FRENCH = frozenset("but if or mine".split())
_WEB = frozenset(("http", "https", "www"))

#: What a text in that language is searched without: its own function words and the other's that it may quote.
STOP = {
    "en": ENGLISH | (FRENCH - _MEANS_SOMETHING_IN_ENGLISH) | _WEB,
    "fr": FRENCH | (ENGLISH - _MEANS_SOMETHING_IN_FRENCH) | _WEB,
}
#: For a text that shows no language: what is a thing in neither.
STOP_UNKNOWN = STOP["en"] & STOP["fr"]

#: Spelt alike in both, or too often part of a name, a unit or a command to tell a language.
_NO_SIGN = frozenset(
    "a as be but c can car ci d de do don done etc fait final font go grace hors hui i j l ll lui m me mine n no non ok"
    " okay on one or own per put re s said same see sera seras son t take te ton tu un us use used using va ve vers via"
    " while y".split()
)
#: Function words of other languages near these two: much of them means neither English nor French.
OTHER_SIGNS = frozenset(
    "el los las del por para con una como pero qué cómo más muy está están este esta puedo hola gracias"
    " che della delle sono gli nel nella questo anche ciao grazie não uma você obrigado olá mas isso"
    " der das dem den und ist nicht ich wie mit für auf auch eine einen kann hallo danke bitte"
    " het een niet ik maar ook voor".split()
)
SIGNS = {"en": ENGLISH - FRENCH - _NO_SIGN, "fr": FRENCH - ENGLISH - _NO_SIGN}
