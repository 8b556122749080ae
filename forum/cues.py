"""Signs in a sentence that it answers, corrects, asks, greets or complains: English and French, rules of thumb."""

from __future__ import annotations

import re

# All but _SELF search lower case: told to ignore case themselves they take two to three times as long.
_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|dear|thanks|thank you|many thanks|cheers|good (?:luck|morning|evening|question)|welcome"
    r"|regards"
    r"|hope (?:this|that|it) helps|you'?re welcome|my pleasure|great|brilliant|perfect|nice|bravo|lovely|well done"
    r"|congrat\w*"
    r"|bonjour|bonsoir|salut|coucou|merci|super|génial|parfait|bienvenue|de rien|bon courage|bonne (?:question|chance"
    r"|journée)"
    r"|cordialement|avec plaisir)\b",
)
_TROUBLE = re.compile(
    r"\b(?:i(?:'ve| have)? (?:tried|wonder|noticed|get|can'?t|cannot|am trying|would like|want|need|don'?t (?:know"
    r"|understand)|see|still)"
    r"|my \w+(?: \w+)? (?:does ?n[o']t|shows?|stops?|stopped|keeps?|reads?|says?|dies|died|fails?|failed|is (?:not"
    r"|stuck))"
    r"|any (?:ideas?|help|advice)|what (?:am i|did i)|does any(?:one|body)|has any(?:one|body)|can any(?:one|body)|is"
    r" it (?:me|normal)"
    r"|j'ai (?:essayé|remarqué|besoin)|je (?:voudrais|cherche|n'arrive|ne (?:sais|comprends))|quelqu'un|une idée|mon"
    r" \w+ ne)\b",
)
_ADVICE = re.compile(
    r"\b(?:you (?:can|could|should|must|need|have to|may)|use|set|put|keep|try|check|take|make sure|never|always"
    r"|don'?t|do not|must"
    r"|instead|because|since|needs?|should|recommended?|the (?:fix|answer|reason|cause|rule|trick|solution)|it is"
    r"|it'?s|there is|means?"
    r"|il faut|vous pouvez|tu peux|mettez|mets|utilisez|utilise|prenez|prends|gardez|jamais|toujours|parce que|car"
    r"|sinon|faut|suffit"
    r"|la (?:cause|solution|raison|règle)|vérifiez|vérifie|c'est|ne pas|voir)\b",
)
_CORRECTION = re.compile(
    r"\b(?:(?:this|that|it|which) no longer|no longer (?:true|valid|correct|recommended|needed|applies)"
    r"|out(?:-| )?(?:of(?:-| )date|dated)|obsolete|superseded|deprecated|correction\s*:"
    r"|(?:that|this|it|(?:advice|answer|post|rule|figure|value)s?(?: above)?|what i (?:said|wrote)|i) (?:is|was|were)"
    r" (?:simply |just )?(?:wrong|mistaken)"
    r"|i stand corrected|(?:don'?t|do not|never) (?:follow|do) (?:that|this|what)|please (?:ignore|disregard) (?:my"
    r"|the|what)"
    r"|has changed since|n'est plus (?:vrai|valable|valide|à jour|nécessaire|d'actualité)|périmée?s?|obsolètes?|je me"
    r" suis trompée?"
    r"|(?:c'était|c'est|était) faux|ne (?:faites|fais|suivez|suis) (?:pas|plus) (?:ça|cela|ce)|mauvais conseil"
    r"|rectificatif\s*:|a changé depuis)\b",
)
#: Only the capital I: in lists `i` is no person.
_SELF = re.compile(r"\b(?:I|I'(?:ve|m|d|ll)|[Mm]e|[Mm]y|mine|[Yy]ou are|[Jj]e|[Mm]oi|[Mm](?:on|a|es))(?!\w)|\b[Jj]'")
_REPORT = re.compile(
    r"\b(?:thanks|thank you|thx|cheers|merci|(?:that|this|it) (?:was it|did it|worked|works now|helped|fixed it)"
    r"|did (?:exactly )?(?:that|this|as you)|works now|problem (?:solved|gone)|solved|(?:i )?did(?:n'?t| not) know"
    r"|seen,|same (?:here|problem|thing)|c'était (?:bien )?(?:ça|cela)|ça marche|problème (?:résolu|réglé)|résolu"
    r"|même (?:problème|chose|souci)|je ne savais pas|fait[.,!])",
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:see|as|what|post|reply|advice|list|table|answer)\b[^.!?]{0,40}\babove|ci-dessus"
    r"|(?:voir|comme|vu|dit|expliqué)\b[^.!?]{0,40}\bplus haut)\b",
)


def chats(sentence: str) -> bool:
    """It tells of its author, or of whom it answers, gives no figure and leads up to nothing."""
    said = sentence.replace("’", "'")
    return bool(_SELF.search(said)) and not said.endswith(":") and not any(char.isdigit() for char in said)


def points_up(text: str) -> bool:
    """It is short and leans on what others wrote before it: alone it says little."""
    return len(text) < 200 and bool(_ELSEWHERE.search(text.lower()))


def reports(text: str) -> bool:
    """It begins by thanking, or by telling how the advice of others turned out."""
    return bool(_REPORT.search(text[:120].lower().replace("’", "'")))


def greets(sentence: str) -> bool:
    """A greeting, thanks or praise, and short enough to be nothing else."""
    return len(sentence) < 90 and bool(_GREETING.match(sentence.lower()))


def asks(sentence: str) -> bool:
    """It ends in a question mark."""
    return sentence.rstrip(" )\"'»”").endswith("?")


def complains(sentence: str) -> bool:
    """It tells somebody's own trouble: what a question consists of."""
    return bool(_TROUBLE.search(sentence.lower()))


def advises(sentence: str) -> bool:
    """It tells what to do or why."""
    return bool(_ADVICE.search(sentence.lower()))


def corrects(text: str) -> bool:
    """It says that something said before is not, or no longer, right."""
    return bool(_CORRECTION.search(text.lower()))
