package dev.culvert.platform.triggers.registry;

import dev.culvert.platform.triggers.hermes.EventBody;
import dev.culvert.platform.triggers.hermes.EventKind;
import dev.culvert.platform.triggers.hermes.EventUri;
import dev.culvert.platform.triggers.hermes.Happening;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** Pushes to one repository of a registry. */
public record RegistryKind(Registry registry, String base) implements EventKind {
    private static final String NAME = "[A-Za-z0-9._-]{1,128}(/[A-Za-z0-9._-]{1,128}){0,15}";
    /** What stands for every namespace or name, where one registry sends the pushes of all. */
    static final String ANY = "*";

    /** Of all registries. */
    public static List<EventKind> all(String base) {
        return Arrays.stream(Registry.values()).<EventKind>map(each -> new RegistryKind(each, base)).toList();
    }

    @Override
    public String type() {
        return registry.type();
    }

    @Override
    public String kind() {
        return registry.kind();
    }

    @Override
    public String summary() {
        return "Pushes of " + (registry.type().equals("helm") ? "charts" : "images") + " to "
                + registry.title();
    }

    @Override
    public List<Value> values() {
        return List.of(value("namespace", registry.namespace()), value("name", registry.repository()));
    }

    private Value value(String name, String expected) {
        return registry.hasAny()
                ? new Value(name, "\\*|" + NAME, expected + "; * for all")
                : new Value(name, NAME, expected);
    }

    @Override
    public String uri(Map<String, String> given, Instant now) {
        return registry.uri(given.getOrDefault("namespace", ""), given.getOrDefault("name", ""));
    }

    @Override
    public List<Happening> read(String account, String name, String body) {
        return registry.happenings(EventBody.parse(body.getBytes(StandardCharsets.UTF_8)),
                EventUri.accountPart(account), body, null);
    }

    @Override
    public String help(String account) {
        return "at the registry: a webhook to " + base + RegistryCalls.ROOT + registry.path() + "?account="
                + account + "&secret=SECRET, or with Authorization: Bearer SECRET where it can send that";
    }
}
