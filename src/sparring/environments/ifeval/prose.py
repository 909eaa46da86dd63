"""Plain words for replies that a program writes: an English story, and a few lines in thirty other languages."""

# ruff: noqa: RUF001  (letters of other scripts are what this file is for)

from __future__ import annotations

from collections.abc import Mapping

ENGLISH = (
    "the old boat came slowly into the quiet harbour and we waited there with our bread while the children played near "
    "the water because it was still warm from the long summer day so nobody wanted to go home before the small lamps "
    "were lit along the narrow road that led up from the shore past the farm and over the hill to the village where my "
    "friend lived in a house with a green door just next to the church we talked about fishing music and how to fix "
    "jackets then she asked me to bring back six boxes of wax paint zinc jam quiche very fuzzy quilts"
)

PROSE: Mapping[str, str] = {
    "en": ENGLISH,
    "ar": "كان القارب القديم يقترب ببطء من الميناء الهادئ وكنا ننتظر هناك مع الخبز بينما كان الأطفال يلعبون قرب الماء",
    "bg": "старата лодка бавно влезе в тихото пристанище и ние чакахме там с хляба докато децата "
    "играеха край водата защото беше още топло",
    "bn": "পুরনো নৌকাটি ধীরে ধীরে শান্ত ঘাটে এসে থামল আর আমরা সেখানে রুটি নিয়ে অপেক্ষা করছিলাম যখন শিশুরা জলের কাছে খেলছিল",
    "de": "das alte boot kam langsam in den stillen hafen und wir warteten dort mit unserem brot "
    "während die kinder am wasser spielten weil es noch warm war und niemand nach hause gehen "
    "wollte",
    "es": "el viejo barco entró despacio en el puerto tranquilo y nosotros esperábamos allí con "
    "nuestro pan mientras los niños jugaban cerca del agua porque todavía hacía calor y nadie "
    "quería volver",
    "fa": "قایق کهنه آرام به بندر ساکت رسید و ما آنجا با نان خود منتظر بودیم در حالی که بچه‌ها کنار "
    "آب بازی می‌کردند چون هوا هنوز گرم بود",
    "fi": "vanha vene tuli hitaasti hiljaiseen satamaan ja me odotimme siellä leipämme kanssa kun "
    "lapset leikkivät veden lähellä koska oli vielä lämmin eikä kukaan halunnut mennä kotiin",
    "fr": "le vieux bateau entrait lentement dans le port tranquille et nous attendions là avec notre "
    "pain pendant que les enfants jouaient près de l'eau car il faisait encore chaud et "
    "personne ne voulait rentrer",
    "gu": "જૂની હોડી ધીમે ધીમે શાંત બંદરમાં આવી અને અમે ત્યાં રોટલી લઈને રાહ જોતા હતા જ્યારે બાળકો પાણી પાસે રમતા હતા",
    "he": "הסירה הישנה נכנסה לאט אל הנמל השקט ואנחנו חיכינו שם עם הלחם שלנו בזמן שהילדים שיחקו ליד "
    "המים כי עדיין היה חם",
    "hi": "पुरानी नाव धीरे धीरे शांत बंदरगाह में आई और हम वहाँ अपनी रोटी के साथ इंतज़ार कर रहे थे जब "
    "बच्चे पानी के पास खेल रहे थे क्योंकि अभी भी गर्मी थी",
    "it": "la vecchia barca entrava lentamente nel porto tranquillo e noi aspettavamo lì con il "
    "nostro pane mentre i bambini giocavano vicino all'acqua perché faceva ancora caldo e "
    "nessuno voleva tornare a casa",
    "ja": "古い ふね が ゆっくり と 静かな 港 に 入って きました "
    "そして 私たち は そこで パン を 持って 待って いました",
    "kn": "ಹಳೆಯ ದೋಣಿ ನಿಧಾನವಾಗಿ ಶಾಂತ ಬಂದರಿಗೆ ಬಂದಿತು ಮತ್ತು ನಾವು ಅಲ್ಲಿ ರೊಟ್ಟಿಯೊಂದಿಗೆ ಕಾಯುತ್ತಿದ್ದೆವು ಮಕ್ಕಳು ನೀರಿನ ಬಳಿ ಆಡುತ್ತಿದ್ದರು",
    "ko": "낡은 배가 천천히 조용한 항구로 들어왔고 우리는 거기서 빵을 들고 기다렸으며 아이들은 물가에서 놀고 있었다",
    "ml": "പഴയ ബോട്ട് പതുക്കെ ശാന്തമായ തുറമുഖത്തേക്ക് വന്നു ഞങ്ങൾ അവിടെ അപ്പവുമായി കാത്തുനിന്നു കുട്ടികൾ വെള്ളത്തിനരികെ കളിച്ചു",
    "mr": "जुनी होडी हळूहळू शांत बंदरात आली आणि आम्ही तिथे आमची भाकरी घेऊन वाट पाहत होतो तेव्हा मुले "
    "पाण्याजवळ खेळत होती कारण अजून उबदार होते",
    "ne": "पुरानो डुङ्गा बिस्तारै शान्त बन्दरगाहमा आयो र हामी त्यहाँ रोटी लिएर पर्खिरहेका थियौं जब केटाकेटीहरू पानी नजिक खेलिरहेका थिए",
    "pa": "ਪੁਰਾਣੀ ਕਿਸ਼ਤੀ ਹੌਲੀ ਹੌਲੀ ਸ਼ਾਂਤ ਬੰਦਰਗਾਹ ਵਿੱਚ ਆਈ ਅਤੇ ਅਸੀਂ ਉੱਥੇ ਰੋਟੀ ਲੈ ਕੇ ਉਡੀਕ ਕਰ ਰਹੇ ਸੀ ਜਦੋਂ ਬੱਚੇ ਪਾਣੀ ਕੋਲ ਖੇਡ ਰਹੇ ਸਨ",
    "pl": "stara łódź powoli wpłynęła do cichego portu a my czekaliśmy tam z naszym chlebem podczas "
    "gdy dzieci bawiły się blisko wody ponieważ było jeszcze ciepło i nikt nie chciał wracać do "
    "domu",
    "pt": "o velho barco entrou devagar no porto tranquilo e nós esperávamos ali com o nosso pão "
    "enquanto as crianças brincavam perto da água porque ainda fazia calor e ninguém queria "
    "voltar para casa",
    "ru": "старая лодка медленно вошла в тихую гавань и мы ждали там с нашим хлебом пока дети играли "
    "у воды потому что было ещё тепло и никто не хотел идти домой",
    "sv": "den gamla båten kom långsamt in i den lugna hamnen och vi väntade där med vårt bröd medan "
    "barnen lekte nära vattnet för det var fortfarande varmt och ingen ville gå hem",
    "sw": "mashua ya zamani iliingia polepole katika bandari tulivu na sisi tulikuwa tukisubiri pale "
    "na mkate wetu wakati watoto walikuwa wakicheza karibu na maji kwa sababu bado kulikuwa na "
    "joto",
    "ta": "பழைய படகு மெதுவாக அமைதியான துறைமுகத்திற்கு வந்தது நாங்கள் அங்கே ரொட்டியுடன் காத்திருந்தோம் குழந்தைகள் நீர் அருகே விளையாடினார்கள்",
    "te": "పాత పడవ నెమ్మదిగా ప్రశాంతమైన ఓడరేవులోకి వచ్చింది మేము అక్కడ రొట్టెతో ఎదురు చూస్తున్నాము పిల్లలు నీటి దగ్గర ఆడుకుంటున్నారు",
    "th": "เรือ เก่า ค่อยๆ เข้ามา ใน ท่าเรือ ที่ เงียบสงบ และ เรา รอ อยู่ ที่นั่น กับ ขนมปัง ของเรา ขณะที่ เด็กๆ เล่น อยู่ ใกล้ น้ำ",
    "uk": "старий човен повільно зайшов у тиху гавань і ми чекали там із нашим хлібом поки діти "
    "гралися біля води тому що було ще тепло і ніхто не хотів іти додому",
    "ur": "پرانی کشتی آہستہ آہستہ خاموش بندرگاہ میں آئی اور ہم وہاں اپنی روٹی کے ساتھ انتظار کر رہے "
    "تھے جب بچے پانی کے پاس کھیل رہے تھے",
    "vi": "chiếc thuyền cũ từ từ vào bến cảng yên tĩnh và chúng tôi đợi ở đó với bánh mì của mình "
    "trong khi lũ trẻ chơi gần nước vì trời vẫn còn ấm và không ai muốn về nhà",
}
"""By the code of the language; one prose each, in which langdetect recognises the language."""
