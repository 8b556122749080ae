"""Tells sentences of a post that are addressed to a machine reader from those that are addressed to people."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from forum.unicode_safety import safe

_READER = (
    r"(?:assistants?|(?<!')(?:ai|ia|llm|gpt|language) ?(?:readers?|models?|agents?|assistants?|systems?)?|chat ?bots?"
    r"|(?:answering |helpful )?bots?|language models?|threadcite|modeles? de langage|robots?|machine readers?|crawlers?"
    r"|asistente|assistent(?:en)?|ki|agente?s?)"
)
_RULES = (
    r"(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|directions?|commands?|context|sources?|messages?"
    r"|posts?"
    r"|consignes?|regles?|directives?|anweisungen|regeln|instrucciones|reglas|istruzioni|regole|evidence|passages?"
    r"|constraints?|safety|programming|training)"
)
_FORGET = (
    r"(?:ignor(?:e[sz]?|er|ed|ing|iere?n?|ar?|ez)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|es|ing)|bypass"
    r"|oubli(?:e[sz]?|er)|neglig(?:e[sz]?|er)|vergiss|vergessen|olvida|dimentica|drop|skip|discard|delete|set aside)"
)
_PATTERNS = (
    # Ignore (all of) your (previous) instructions; oublie tes consignes; reglas ... ignoradas.
    rf"\b{_FORGET}\b[^.!?\n]{{0,60}}\b(?:your|you|all|any|the|these|those|previous|prior|earlier|above|other|system"
    rf"|tes|vos"
    rf"|toutes|les|autres|precedent\w*|alle|deine|vorherigen|tus|todas|las|le tue|tutte)\b[^.!?\n]{{0,40}}\b{_RULES}\b",
    rf"\b{_FORGET}\b (?:everything|anything|what|tout|alles|todo)\b[^.!?\n]{{0,40}}\b(?:above|before|earlier|told|said"
    rf"|avant|precede\w*|dit)\b",
    # Note to the assistant; SYSTEM NOTE; consigne pour le robot; to all AI readers.
    rf"\b(?:note|notice|message|instructions?|important|attention|reminder|consigne|remarque|hinweis"
    rf"|nota)\b[^.!?\n]{{0,25}}\b"
    rf"(?:to|for|pour|au|aux|a l'|an|fur|para)\b[^.!?\n]{{0,20}}\b{_READER}\b",
    rf"\b(?:to|for|dear|hey|attention|cher|chere|attn)\W{{0,3}}(?:all |any |the |every |whichever"
    rf" )?{_READER}\b[^.!?\n]{{0,30}}[:,!]",
    rf"^\W*(?:hey |dear |cher )?{_READER}\s*[:,!]\s*\w+",
    r"\b(?:system|developer|operator)\W{0,3}(?:note|prompt|override|instructions?|notice)\b",
    r"(?:^|[\s<\[#|(*])(?:system|assistant|developer)\s*[:>\]|]\W*(?:you|ignore|new|note|from now|the (?:assistant"
    r"|bot)|answer|reply|say|do not|never)\b",
    r"<\s*/?\s*(?:system|assistant|evidence|instructions?|sources?|user|im_start|im_end|s)\b|<\|[^|>]{0,40}\|?>"
    r"|\[/?inst\]|<<\s*sys",
    r"⟦|⟧|\bend of (?:the )?(?:evidence|sources?|posts?|documents?|context)\b|\bstable forum evidence\b",
    # From now on you are ...; act as ...; you have no rules; tu es maintenant.
    r"\b(?:from now on|starting now|henceforth|desormais|a partir de maintenant|ab jetzt|a partir de"
    r" ahora)\b[^.!?\n]{0,30}\b(?:you|your|tu|vous|ta|votre|du|eres)\b",
    r"\byou (?:are now|will now|must now|now act|have no rules|have been (?:updated|reprogrammed|freed))\b|\btu es"
    r" (?:maintenant|desormais)\b",
    r"\b(?:act|behave|respond|answer|reply|speak|pretend|roleplay|role-play) (?:as|like) (?:if you (?:were|are)|an?"
    r" (?:unrestricted|uncensored|pirate|different|evil|new)|dan\b)",
    r"\b(?:new|updated|your) (?:persona|identity|role|system prompt|policy|rules?) (?:is|are|:)|\bnew policy\b",
    # Say only ...; do not cite; in your answer; reveal the prompt; mention @x.
    r"\b(?:reply|answer|respond|output|antworte|responde)\b[^.!?\n]{0,30}\b(?:only|exactly|nothing but"
    r"|solely)\b[^.!?\n]{0,25}"
    r"(?:with|this|the (?:word|link|following|text)|\"|'|“|«|:)",
    r"\b(?:say|write|print|ecri(?:s|vez)|dis|dites) (?:only|exactly|nothing but|just|uniquement|seulement) ?(?:\"|“|«"
    r"|:|this|the)",
    r"\brepon(?:ds|dez)\b[^.!?\n]{0,30}\b(?:que|uniquement|seulement|par)\b",
    r"\b(?:in|into|to) your (?:answer|reply|response|output|summary)\b|\bdans (?:ta|votre) reponse\b|\bin deiner"
    r" antwort\b",
    r"\b(?:do not|don'?t|never|ne|n') ?(?:cite|quote|mention|use|trust|citez?)\b[^.!?\n]{0,20}"
    r"\b(?:other (?:posts?|sources?|messages?|topics?|answers?)|the (?:sources|evidence|posts)|markers?"
    r"|autres? (?:messages?|sources?|sujets?))\b",
    r"\b(?:repeat|reveal|print|show|output|leak|disclose|paste|revele\w*|affiche\w*|repete\w*"
    r"|post)\b[^.!?\n]{0,45}\b(?:system prompt|your (?:prompt|instructions|rules)"
    r"|private messages?|list of staff|hidden (?:posts?|text)|api keys?|passwords? of|messages? prives?|tes consignes"
    r"|staff members)\b",
    r"\b(?:append|include|insert|embed|ajoute[rz]?|inclu[st]\w*)\b[^.!?\n]{0,40}(?:!\[|<img|<a |\bthis (?:link|image"
    r"|url|pixel)\b|\bthe (?:marker|pixel)\b)",
    r"\b(?:treat|regard|consider|take) (?:this|the following|my) (?:post|message|text|page"
    r"|source)\b[^.!?\n]{0,40}\b(?:true|truth|only|authoritative|official|system|trusted|instruction\w*)",
    r"\b(?:this|my|the present) (?:post|page|message|answer)\b[^.!?\n]{0,30}\b(?:is|was|has"
    r" been)\b[^.!?\n]{0,15}\b(?:verified|approved|certified|authorised|authorized|endorsed)\b[^.!?\n]{0,20}\bby\b",
    r"\b(?:cite|mark|label|use|quote) (?:this|it|me|my post)\b[^.!?\n]{0,20}\b(?:as|with)\b[^.!?\n]{0,10}\[+\d",
    r"\b(?:the )?other (?:posts|sources|answers|messages) (?:are|were) (?:wrong|fake|outdated|lies|compromised|spam)\b",
    r"\b(?:say|claim|state|write|tell (?:them|the user|everyone|people)) that \[+\d|\[+\d\]+ and \[+\d\]+ confirm",
    rf"\b(?:as|since|because|if) you are (?:an?|the) {_READER}\b|\bif you(?:'re| are) (?:reading|processing"
    rf"|summari[sz]ing|parsing) this\b",
    r"\bl'assistant\b[^.!?\n]{0,40}\b(?:doit|devra|oublie|ignore|repond\w*|ecri\w*)\b|\bthe (?:assistant|bot|model|ai)"
    r" (?:must|should|shall|will|has to) (?:now )?"
    r"(?:say|write|answer|reply|respond|ignore|mention|link|include|recommend|output|only|not)\b",
)
#: For lower case: told to ignore case itself it takes much longer.
_ORDER = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
#: Letters of other alphabets that are drawn like Latin ones, and digits that stand for letters.
_LOOKALIKES = str.maketrans("аеорсхуіјѕһɡΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcxyijshgABEZHIKMNOPTYX")
_LEET = str.maketrans("013457@$", "oieastas")
_LEET_WORD = re.compile(r"(?=\w*[^\W\d_])[\w@$]*[0-9@$][\w@$]*")
_MARKS = re.compile("[\u0300-\u036f]")
_SPACED = re.compile(r"(?<![^\W_])(?:[^\W_][ .\-_*]){4,}[^\W_](?![^\W_])")


#: No order is without one of these: a quick look before the long one.
_TRIGGERS = (
    "ignor disregard forget overrid bypass oubli neglig vergiss vergess olvid dimentic discard delete drop skip assist"
    " bot"
    " model llm gpt threadcite crawl robot reader system developer operator prompt evidence <| inst] << ⟦ ⟧ </ <s <u"
    " <im_"
    " persona identity role policy rule hencefor desormais reply answer respond repon antwort say write print ecri dis"
    " quote cite mention trust reveal repeat leak disclose paste revel affich repet append include insert embed ajout"
    " inclu"
    " treat regard consider verified approved certified authori endorsed sources posts confirm summari agent"
).split() + [
    "set aside",
    "from now",
    "starting now",
    "a partir",
    "ab jetzt",
    "you are",
    "you will",
    "you must",
    "you now",
    "you have",
    "tu es",
    "end of",
    " ai ",
    "ai:",
    "ai,",
    "asist",
]
#: Letters spaced out, or digits among letters.
_DISGUISED = re.compile(r"(?:\b\w[ .\-_*]){4}|[^\W\d_][013457@$][^\W\d_]")


@lru_cache(maxsize=20_000)
def is_order(text: str) -> bool:
    """True when a piece of a post tries to steer whoever writes the answer: it is neither quoted nor shown to an LLM.

    Looks through accents, look-alike letters, digits for letters and spaced-out words. English and French, the
    commonest forms in German, Spanish and Italian. A rule of thumb: what it misses is still only data in its fence.
    """
    plain = _folded(text)
    if not any(trigger in plain for trigger in _TRIGGERS) and not _DISGUISED.search(plain):
        return False
    if _ORDER.search(plain):
        return True
    closed = _SPACED.sub(lambda word: re.sub(r"[ .\-_*]", "", word.group()), plain)
    leet = _LEET_WORD.sub(lambda word: word.group().translate(_LEET), closed)
    return bool((closed != plain and _ORDER.search(closed)) or (leet != closed and _ORDER.search(leet)))


def _folded(text: str) -> str:
    if text.isascii():
        return safe(text).lower()
    # NFKC first: full-width and mathematical letters become plain ones.
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", safe(text))).translate(_LOOKALIKES)
    return _MARKS.sub("", plain.replace("’", "'")).lower()
