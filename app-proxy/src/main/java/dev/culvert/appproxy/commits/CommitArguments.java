package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.codec.http.QueryStringDecoder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.lib.ObjectId;
import org.jspecify.annotations.Nullable;

/** An input object, coerced by the schema. Members that the schema requires are present. */
record CommitArguments(Map<?, ?> members) {
    /** The parameters of a query; of one that comes several times, the first. */
    static CommitArguments ofQuery(String target) {
        Map<String, String> first = new HashMap<>();
        new QueryStringDecoder(target, true).parameters()
                .forEach((name, values) -> first.put(name, values.getFirst()));
        return new CommitArguments(first);
    }

    /** The input object {@code args} of a field, or an empty one. */
    static CommitArguments of(Map<String, Object> arguments) {
        return arguments.get("args") instanceof Map<?, ?> members
                ? new CommitArguments(members)
                : new CommitArguments(Map.of());
    }

    @Nullable
    String text(String name) {
        return members.get(name) instanceof String text ? text : null;
    }

    String text(String name, String otherwise) {
        String text = text(name);
        return text == null ? otherwise : text;
    }

    String required(String name) {
        String text = text(name);
        if (text == null || text.isBlank()) {
            throw HandlerException.of(Reason.BAD_REQUEST, name + " is needed");
        }
        return text;
    }

    boolean flag(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    List<CommitArguments> objects(String name) {
        return members.get(name) instanceof List<?> list
                ? list.stream()
                        .filter(Map.class::isInstance)
                        .map(member -> new CommitArguments((Map<?, ?>) member))
                        .toList()
                : List.of();
    }

    @Nullable
    Branch branch(String name) {
        String text = text(name);
        return text == null ? null : new Branch(text);
    }

    /** The full id of a blob; null: none was given. Throws HandlerException BAD_REQUEST for an invalid id. */
    @Nullable
    ObjectId revision() {
        String text = text("revision");
        if (text == null || text.isEmpty()) {
            return null;
        }
        if (!ObjectId.isId(text)) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "revision is not a blob's id (expected: the revision from readFile, 40 hexadecimal digits)");
        }
        return ObjectId.fromString(text);
    }
}
