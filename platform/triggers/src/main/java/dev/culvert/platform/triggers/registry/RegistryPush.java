package dev.culvert.platform.triggers.registry;

import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A push.
 *
 * @param delivery names it; null: nothing does
 * @param pusher who pushed; empty: it is not told
 * @param url where the repository is; empty: it is not told
 * @param pushedAt by RFC 3339; empty: it is not told
 */
record RegistryPush(String namespace, String name, String tag, @Nullable String delivery, String pusher,
        String url, String pushedAt) {
    /** What filters see. */
    Map<String, String> fields(Registry registry) {
        Map<String, String> fields = new TreeMap<>();
        fields.put("namespace", namespace);
        fields.put("name", name);
        fields.put("tag", tag);
        fields.put("pusher", pusher);
        fields.put("url", url);
        fields.put("pushed_at", pushedAt);
        fields.put("provider", registry.kind());
        fields.put("type", registry.type());
        fields.put("event", "push");
        fields.values().removeIf(String::isEmpty);
        return fields;
    }
}
