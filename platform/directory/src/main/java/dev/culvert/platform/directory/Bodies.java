package dev.culvert.platform.directory;

import dev.culvert.handlers.rest.JsonFields;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import dev.culvert.platform.directory.store.Id;
import dev.culvert.platform.directory.store.Rule;
import dev.culvert.platform.directory.store.RuntimeTokens;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The bodies of requests. */
final class Bodies {
    private static final int MAX_TEXT = 256;

    private Bodies() {}

    record NewAccount(@Nullable String id, String name) {
        static NewAccount of(JsonFields fields) {
            return new NewAccount(fields.optionalText("id"), fields.text("name"));
        }

        NewAccount {
            text("name", name);
            if (id != null && !Id.valid(id)) {
                throw new IllegalArgumentException("id: 24 hexadecimal digits, or none");
            }
        }
    }

    record NewUser(String name, String email, boolean admin) {
        static NewUser of(JsonFields fields) {
            return new NewUser(fields.text("name"), fields.text("email"), fields.flag("admin"));
        }

        NewUser {
            text("name", name);
            text("email", email);
            if (email.indexOf('@') < 1) {
                throw new IllegalArgumentException("email: an address as jo@example.com");
            }
        }
    }

    record NewTeam(String name, List<String> members) {
        static NewTeam of(JsonFields fields) {
            return new NewTeam(fields.text("name"), fields.texts("members"));
        }

        NewTeam {
            text("name", name);
            members = List.copyOf(members);
        }
    }

    record NewKey(@Nullable String user, @Nullable String runtime, @Nullable String name,
            @Nullable Long expires) {
        static NewKey of(JsonFields fields) {
            return new NewKey(fields.optionalText("user"), fields.optionalText("runtime"),
                    fields.optionalText("name"), fields.optionalNumber("expires"));
        }

        NewKey {
            if ((user == null) == (runtime == null)) {
                throw new IllegalArgumentException("user, runtime: one of them, the key's holder");
            }
            if (runtime != null && !runtime.matches("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")) {
                throw new IllegalArgumentException("runtime: a name of a-z, 0-9 and -");
            }
            text("name", name == null ? "key" : name);
        }
    }

    record NewRuntimeToken(String runtime, @Nullable Long ttlSeconds) {
        static NewRuntimeToken of(JsonFields fields) {
            return new NewRuntimeToken(fields.text("runtime"), fields.optionalNumber("ttlSeconds"));
        }

        NewRuntimeToken {
            if (ttlSeconds != null && (ttlSeconds < 1 || ttlSeconds > RuntimeTokens.MAX_SECONDS)) {
                throw new IllegalArgumentException("ttlSeconds: 1.." + RuntimeTokens.MAX_SECONDS);
            }
        }

        int seconds() {
            return ttlSeconds == null ? RuntimeTokens.DEFAULT_SECONDS : ttlSeconds.intValue();
        }
    }

    /** The last four are the public platform's form, in place of the others ({@link PublicRule}). */
    record NewRule(String entity, List<String> actions, List<String> teams, List<String> users,
            Map<String, List<String>> attributes, @Nullable String resource, @Nullable String action,
            @Nullable String team, List<String> tags) {
        static NewRule of(JsonFields fields) {
            return PublicRule.isIn(fields)
                    ? PublicRule.of(fields)
                    : new NewRule(fields.text("entity"), fields.requiredTexts("actions"),
                            fields.texts("teams"),
                            fields.texts("users"), fields.textsByName("attributes"), null, null, null,
                            List.of());
        }

        Rule rule() {
            return new Rule(Id.create(), entity, actions, teams, users, attributes);
        }
    }

    record Ask(@Nullable String user, String entity, String action, Map<String, String> attributes) {
        static Ask of(JsonFields fields) {
            return new Ask(fields.optionalText("user"), fields.text("entity"), fields.text("action"),
                    fields.textByName("attributes"));
        }
    }

    record Token(String token) {
        static Token of(JsonFields fields) {
            return new Token(fields.text("token"));
        }

        @Override
        public String toString() {
            return "***";
        }
    }

    record Reach(String url) {
        static Reach of(JsonFields fields) {
            return new Reach(fields.text("url"));
        }

        Reach {
            text("url", url);
        }
    }

    static HandlerException invalid(String detail) {
        return HandlerException.of(Reason.BAD_REQUEST, detail);
    }

    /** Returns a text. Throws HandlerException with BAD_REQUEST unless it is one readable line. */
    static String line(String field, String text) {
        try {
            text(field, text);
            return text;
        } catch (IllegalArgumentException e) {
            throw invalid(String.valueOf(e.getMessage()));
        }
    }

    /** Throws IllegalArgumentException unless the value is one readable line. */
    private static void text(String field, @Nullable String text) {
        if (text == null || text.isBlank() || text.length() > MAX_TEXT
                || text.chars().anyMatch(c -> c < ' ' || c == '<' || c == '>' || c == 127)) {
            throw new IllegalArgumentException(
                    field + ": a line of 1.." + MAX_TEXT + " characters without < and >");
        }
    }
}
