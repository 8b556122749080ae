"""The emoji shortcodes that the practice forum knows, a small part of Discourse's list."""

EMOJI: dict[str, str] = {
    "smile": "😄", "slight_smile": "🙂", "smiley": "😃", "grin": "😁", "joy": "😂", "laughing": "😆", "wink": "😉",
    "sweat_smile": "😅", "thinking": "🤔", "heart": "❤️", "+1": "👍", "-1": "👎", "tada": "🎉", "fire": "🔥",
    "warning": "⚠️", "bulb": "💡", "rocket": "🚀", "wave": "👋", "clap": "👏", "pray": "🙏", "eyes": "👀",
    "cry": "😢", "sob": "😭", "confused": "😕", "rage": "😡", "scream": "😱", "sunglasses": "😎",
    "heart_eyes": "😍", "blush": "😊", "relieved": "😌", "upside_down_face": "🙃", "shrug": "🤷",
    "facepalm": "🤦", "muscle": "💪", "ok_hand": "👌", "point_up": "☝️", "raised_hands": "🙌", "bread": "🍞",
    "baguette_bread": "🥖", "coffee": "☕", "tea": "🍵", "cake": "🍰", "pizza": "🍕", "croissant": "🥐",
    "cheese": "🧀", "honey_pot": "🍯", "apple": "🍎", "lemon": "🍋", "tomato": "🍅", "carrot": "🥕",
    "potato": "🥔", "herb": "🌿", "seedling": "🌱", "sunflower": "🌻", "bee": "🐝", "honeybee": "🐝", "cat": "🐱",
    "dog": "🐶", "bike": "🚲", "bicyclist": "🚴", "hammer": "🔨", "wrench": "🔧", "hammer_and_wrench": "🛠️",
    "gear": "⚙️", "nut_and_bolt": "🔩", "battery": "🔋", "zap": "⚡", "electric_plug": "🔌", "computer": "💻",
    "floppy_disk": "💾", "printer": "🖨️", "bug": "🐛", "camera": "📷", "robot": "🤖", "book": "📖", "books": "📚",
    "memo": "📝", "pencil": "✏️", "link": "🔗", "mag": "🔍", "lock": "🔒", "key": "🔑", "bell": "🔔",
    "hourglass": "⌛", "alarm_clock": "⏰", "calendar": "📅", "snowflake": "❄️", "sunny": "☀️", "cloud": "☁️",
    "umbrella": "☔", "rain_cloud": "🌧️", "droplet": "💧", "thermometer": "🌡️", "house": "🏠", "star": "⭐",
    "sparkles": "✨", "100": "💯", "x": "❌", "o": "⭕", "white_check_mark": "✅", "heavy_check_mark": "✔️",
    "question": "❓", "exclamation": "❗", "arrow_right": "➡️", "musical_note": "🎵", "headphones": "🎧",
    "microphone": "🎤", "gift": "🎁", "trophy": "🏆", "medal": "🏅", "satellite": "🛰️", "telescope": "🔭",
    "microscope": "🔬", "test_tube": "🧪", "thread": "🧵", "scissors": "✂️", "mountain": "⛰️", "tent": "⛺",
    "boat": "⛵", "train": "🚆", "bus": "🚌", "car": "🚗", "airplane": "✈️",
}  # fmt: skip
