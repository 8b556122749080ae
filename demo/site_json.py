"""The two widest answers of Discourse's API, /site.json and /u/{username}.json, most of whose values never change."""

from __future__ import annotations

from typing import Any

from demo.records import User
from demo.serialize import Shapes, avatar
from demo.visibility import group_names, is_public

Json = dict[str, Any]


#: Discourse's Notification.types
NOTIFICATION_TYPES = {
    name: number
    for number, name in enumerate(
        """mentioned replied quoted edited liked private_message invited_to_private_message invitee_accepted
        posted moved_post linked granted_badge invited_to_topic custom group_mentioned group_message_summary
        watching_first_post topic_reminder liked_consolidated post_approved code_review_commit_approved
        membership_request_accepted membership_request_consolidated bookmark_reminder reaction votes_released
        event_reminder event_invitation chat_mention chat_message chat_invitation chat_group_mention chat_quoted
        assigned question_answer_user_commented watching_category_or_tag new_features admin_problems
        linked_consolidated chat_watched_thread""".split(),
        1,
    )
}


def site_json(shapes: Shapes) -> Json:
    """GET /site.json for a reader."""
    store = shapes.store
    tags = sorted({tag for t in store.topics.values() if not t.private for tag in t.tags})
    shown = {
        tag for t in store.topics.values() for tag in t.tags if any(c.id == t.category_id for c in shapes.categories())
    }
    return {
        "default_archetype": "regular",
        "notification_types": NOTIFICATION_TYPES,
        "post_types": {"regular": 1, "moderator_action": 2, "small_action": 3, "whisper": 4},
        "trust_levels": {"newuser": 0, "basic": 1, "member": 2, "regular": 3, "leader": 4},
        "groups": [
            {
                "id": g.id,
                "name": g.name,
                "flair_url": None,
                "flair_bg_color": None,
                "flair_color": None,
                "automatic": g.automatic,
            }
            for g in store.groups.values()
        ],
        "filters": ["latest", "unread", "new", "unseen", "top", "read", "posted", "bookmarks", "hot"],
        "homepage_choices": ["categories", "hot", "latest", "top"],
        "periods": ["all", "yearly", "quarterly", "monthly", "weekly", "daily"],
        "top_menu_items": ["latest", "top", "categories"],
        "anonymous_top_menu_items": ["latest", "top", "categories"],
        "uncategorized_category_id": 0,
        "user_field_max_length": 2048,
        "post_action_types": [_LIKE],
        "topic_flag_types": [],
        "can_create_tag": False,
        "can_tag_topics": shapes.viewer is not None,
        "can_tag_pms": False,
        "tags_filter_regexp": r"[\/\?#\[\]@!\$&'\(\)\*\+,;=\.%\\`^\s|\{\}\"<>]+",
        "top_tags": [{"id": n, "name": t, "slug": t} for n, t in enumerate(tags, 1) if t in shown],
        "email_configured": False,
        "topic_featured_link_allowed_category_ids": [],
        "user_themes": [],
        "user_color_schemes": [],
        "default_light_color_scheme": None,
        "default_dark_color_scheme": None,
        "censored_regexp": [],
        "custom_emoji_translation": {},
        "watched_words_replace": None,
        "watched_words_link": None,
        "categories": [shapes.category_site(c) for c in shapes.categories()],
        "archetypes": [{"id": name, "name": name, "options": []} for name in ("regular", "banner")],
        "user_fields": [],
        "auth_providers": [],
        "full_name_required_for_signup": False,
        "full_name_visible_in_signup": True,
    }


_LIKE: Json = {
    "id": 2,
    "name_key": "like",
    "name": "Like",
    "description": "Like this post",
    "short_description": "Like this post",
    "is_flag": False,
    "require_message": False,
    "enabled": True,
    "applies_to": ["Post"],
    "is_used": True,
    "auto_action_type": False,
}


def user_json(shapes: Shapes, user: User) -> Json:
    """GET /u/{username}.json: what is public of a member, the rest at its default."""
    store = shapes.store
    posts = [
        p
        for p in store.posts.values()
        if p.user_id == user.id and is_public(p, store.topics[p.topic_id], store.category_of(store.topics[p.topic_id]))
    ]
    names = group_names(user)
    body: Json = {
        "id": user.id,
        "username": user.username,
        "name": user.name or "",
        "avatar_template": avatar(user.username),
        "system_avatar_template": avatar(user.username),
        "last_posted_at": max((p.created_at for p in posts), default=None),
        "last_seen_at": max((p.created_at for p in posts), default=None),
        "created_at": user.created_at,
        "trust_level": user.trust_level,
        "moderator": user.moderator,
        "admin": user.admin,
        "locale": user.locale,
        "post_count": len(posts),
        "topic_count": sum(p.post_number == 1 for p in posts),
        "groups": [_group(g.id, g.name, g.automatic) for g in store.groups.values() if g.name in names],
        "group_users": [
            {"group_id": g.id, "user_id": user.id, "notification_level": 3}
            for g in store.groups.values()
            if g.name in names
        ],
        "user_option": {"user_id": user.id, **_OPTIONS},
        "user_notification_schedule": {
            "enabled": False,
            **{f"day_{day}_{edge}_time": 0 for day in range(7) for edge in ("start", "end")},
        },
        "featured_topic": {"id": 0, "title": "", "fancy_title": "", "slug": "", "posts_count": 0},
    }
    for value, keys in _CONSTANTS:
        body |= {key: [] if value == [] else {} if value == {} else value for key in keys.split()}
    return {"user_badges": [], "user": body}


def _group(number: int, name: str, automatic: bool) -> Json:
    nothing = (
        "title grant_trust_level incoming_email flair_url flair_bg_color flair_color bio_raw bio_cooked bio_excerpt "
        "full_name membership_request_template"
    )
    off = "primary_group has_messages public_admission public_exit allow_membership_requests can_admin_group"
    return {
        "id": number,
        "automatic": automatic,
        "name": name,
        "display_name": name,
        "user_count": 0,
        "mentionable_level": 0,
        "messageable_level": 0,
        "visibility_level": 0,
        "default_notification_level": 3,
        "members_visibility_level": 0,
        "can_see_members": True,
        "publish_read_state": False,
        **dict.fromkeys(nothing.split()),
        **dict.fromkeys(off.split(), False),
    }


_CONSTANTS: tuple[tuple[Any, str], ...] = (
    (
        False,
        """ignored muted can_ignore_user can_mute_user can_send_private_messages can_send_private_message_to_user
        staged can_edit can_edit_username can_edit_email can_edit_name has_title_badges second_factor_enabled
        can_upload_profile_header can_upload_user_card_background can_be_deleted can_delete_all_posts
        can_change_bio can_change_location can_change_website can_change_tracking_preferences
        use_logo_small_as_avatar""",
    ),
    (
        None,
        """title primary_group_id primary_group_name flair_group_id flair_name flair_url flair_bg_color flair_color
        uploaded_avatar_id system_avatar_upload_id user_api_keys invited_by""",
    ),
    (0, "badge_count time_read recent_time_read pending_count profile_view_count mailing_list_posts_per_day"),
    (
        [],
        """muted_category_ids regular_category_ids watched_tags watching_first_post_tags tracked_tags muted_tags
        tracked_category_ids watched_category_ids watched_first_post_category_ids muted_usernames
        ignored_usernames allowed_pm_usernames user_auth_tokens featured_user_badge_ids""",
    ),
    ({}, "custom_fields"),
)
_OPTIONS: Json = {
    **dict.fromkeys(
        """mailing_list_mode email_digests external_links_in_new_tab dynamic_favicon enable_quoting
        enable_smart_lists enable_markdown_monospace_font automatically_unpin_topics
        email_in_reply_to notify_on_linked_posts enable_upcoming_change_available_notifications
        include_tl0_in_digests allow_private_messages enable_allowed_pm_users
        hide_profile_and_presence hide_profile hide_presence skip_new_user_tips
        topics_unread_when_closed automatically_translate show_original_content""".split(),
        False,
    ),
    **dict.fromkeys(
        """mailing_list_mode_frequency email_level email_messages_level digest_after_minutes
        auto_track_topics_after_msecs notification_level_when_replying new_topic_duration_minutes
        email_previous_replies like_notification_frequency theme_key_seq text_size_seq interface_color_mode""".split(),
        0,
    ),
    **dict.fromkeys(("color_scheme_id", "dark_scheme_id", "homepage_id", "timezone")),
    "push_notification_level": "none",
    "theme_ids": [],
    "text_size": "normal",
    "title_count_mode": "notifications",
    "understood_languages": [],
    "send_shortcut": "enter",
}
