"""Word lists for `text_equivalence`; all but the foreign function words are English."""

from typing import Final

_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thurs fri"
_MONTHS: Final = """
    january february march april may june july august september october november december jan feb apr jun jul aug sept
    oct nov dec
"""
_FACT_WORDS: Final = {
    "number": """
        zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million
        billion dozen couple half quarter third thirds first second fourth fifth once twice thrice double triple
    """,
    "date": f"""
        {_WEEKDAYS} {_MONTHS} today tomorrow yesterday tonight morning noon afternoon evening night midnight weekend
        spring summer autumn winter christmas easter day week month year century decade hour minute last next previous
        before after since until ago early earlier earliest late later latest soon already yet still again former
        formerly
    """,
    "negation": """
        no not never none nobody nothing nowhere neither nor without cannot hardly barely scarcely lack lacks fail fails
        failed refuse refused refuses except unless stop stopped instead nicht kein keine keinen niemals jamais pas
        nunca niet geen
    """,
    "quantity": """
        all every everybody everyone everything always both each entire whole any some few several many much most more
        less least fewer either only sometimes often usually frequently rarely seldom almost nearly too enough
        mostly
    """,
    "possibility": "must should shall may might can could will would need needs",
    "colour": """
        red orange yellow green blue purple violet pink brown black white grey gray beige golden silver turquoise
        colourless colorless
    """,
    "measure": """
        euro euros dollar dollars cent cents pound pounds yen franc francs rouble roubles rupee rupees percent meter
        meters metre metres mile miles yard yards foot feet inch inches kilometer kilometers kilometre kilometres
        centimeter centimeters millimeter millimeters gram grams kilogram kilograms kilo kilos ounce ounces ton tons
        tonne tonnes liter liters litre litres gallon gallons pint pints celsius fahrenheit degree degrees seconds
        minutes hours days weeks months years byte bytes bit bits watt watts volt volts hertz mm cm km mg kg ml cl dl
        lb lbs oz ft mph kb mb gb tb kw hz db ms
    """,
    "letter": "alpha beta gamma delta epsilon omega sigma theta lambda",
    "kin": """
        mother father mom mum dad brother sister cousin aunt uncle nephew niece grandmother grandfather grandma grandpa
        son daughter husband wife stepmother stepfather
    """,
    "person": """
        i me my mine myself you your yours yourself he him his himself she her hers herself it its itself we us our ours
        they them their theirs
    """,
}

FACT_KIND: Final = {word: kind for kind, words in _FACT_WORDS.items() for word in words.split()}
"""The kind of fact that each word states."""

OPPOSITES: Final = """
    up:down in:out on:off to:from with:from over:under above:below left:right north:south north:east north:west
    south:east south:west east:west northern:southern eastern:western front:back top:bottom inside:outside
    indoor:outdoor forward:backward here:there near:far open:close open:shut enter:leave enter:exit arrive:leave
    come:go start:stop start:end start:finish begin:end begin:stop begin:finish first:last true:false yes:no
    good:bad good:evil best:worst better:worse right:wrong correct:incorrect positive:negative high:low higher:lower
    highest:lowest tall:short long:short big:small big:little large:small larger:smaller wide:narrow deep:shallow
    thick:thin heavy:light strong:weak hard:soft hard:easy difficult:easy fast:slow quick:slow hot:cold warm:cool
    warm:cold hot:cool wet:dry dark:light bright:dark loud:quiet old:new old:young new:used rich:poor cheap:expensive
    full:empty alive:dead live:die born:die birth:death kill:save sick:healthy ill:healthy ill:well happy:sad
    love:hate like:hate like:dislike accept:reject accept:refuse agree:disagree allow:forbid allow:deny allow:prevent
    permit:forbid approve:reject pass:fail win:lose won:lost succeed:fail success:failure increase:decrease
    increase:reduce increment:decrement raise:lower rise:fall rose:fell grow:shrink gain:lose more:less add:remove
    add:subtract insert:delete create:delete create:destroy build:destroy put:get get:set give:take give:receive
    send:receive buy:sell bought:sold lend:borrow teach:learn ask:answer push:pull upload:download read:write
    encode:decode encrypt:decrypt compress:decompress enable:disable activate:deactivate show:hide visible:hidden
    lock:unlock connect:disconnect attach:detach install:uninstall include:exclude join:leave join:split
    merge:split import:export client:server input:output source:target public:private global:local internal:external
    min:max minimum:maximum male:female man:woman men:women boy:girl father:mother dad:mom son:daughter
    brother:sister husband:wife king:queen uncle:aunt parent:child teacher:student friend:enemy war:peace
    attack:defend guilty:innocent legal:illegal safe:dangerous clean:dirty remember:forget laugh:cry
    succeeded:failed presence:absence present:absent same:different even:odd ancestor:descendant predecessor:successor
    combine:separate put:separate married:divorced
"""
SYNONYMS: Final = {
    word: group.split()[0]
    for group in (
        "many numerous, several various, sometimes occasionally, often frequently, usually normally, whole entire, "
        "almost nearly, mostly mainly, rarely seldom, enough sufficient, everybody everyone, nobody none"
    ).split(", ")
    for word in group.split()
}
"""Fact words by the first word of their group of synonyms."""

NEGATING_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "de", "anti", "mis")

FILLERS: Final = frozenset(
    "a an the that really very just so well oh ah um uh hey okay ok actually basically simply quite".split()
)
"""English words without meaning of their own."""

FOREIGN: Final = frozenset(
    """
    der die das dem ein eine einen einem einer und oder ist sind wird wurde werden nicht kein keine mit ohne von vom zu
    zum zur auf für im bei nach aus ich wir ihr auch
    le la les un une du des et ou est sont dans avec sans sur ne que qui nous vous notre votre au aux ce cette il elle
    el los las unos del es está sin con por para como más lo su sus al
    gli della delle dei nel nella è sono non che di anche uno alla dal
    os uma da dos das na não é com sem em ao à seu sua pelo pela
    de het een en niet geen van met zonder voor naar op te aan bij ook zijn
    och att det som är inte på av för med utan ett til ikke og jeg vi har
    w z ze nie jest się od przez bez dla był było są
    """.split()
)
"""Function words of German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Norwegian and Polish that
are rare in English."""
