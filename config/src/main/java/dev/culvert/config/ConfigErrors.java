package dev.culvert.config;

import java.util.List;

/** The errors of a configuration. Each line names origin, key, value and the accepted values. */
public final class ConfigErrors extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> errors;

    /** Creates the exception from at least one line. */
    public ConfigErrors(List<String> errors) {
        super(String.join("\n", errors), null, false, false);
        this.errors = List.copyOf(errors);
    }

    /** One line for each error, in the order of the settings. */
    public List<String> errors() {
        return errors;
    }
}
