package dev.culvert.config;

import java.util.List;

/** What is wrong with a configuration; each line names origin, key, value and what is accepted. */
public final class ConfigErrors extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> errors;

    /** Takes at least one line. */
    public ConfigErrors(List<String> errors) {
        super(String.join("\n", errors), null, false, false);
        this.errors = List.copyOf(errors);
    }

    /** One line per mistake, in the order of the settings. */
    public List<String> errors() {
        return errors;
    }
}
