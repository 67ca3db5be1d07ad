package dev.culvert.config;

/**
 * Reports an invalid configuration value. Compact constructors throw it with the bare component name as key.
 * The binder adds the path of keys, the origin (file and line, variable or flag) and the value.
 */
public final class ConfigException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String key;
    private final String expected;

    /**
     * @param key the invalid component or dotted key
     * @param expected the accepted values and the remedy: {@code "1..4; remove the key for the default 2"}
     */
    public ConfigException(String key, String expected) {
        super(key + ": expected " + expected, null, false, false);
        this.key = key;
        this.expected = expected;
    }

    public String key() {
        return key;
    }

    public String expected() {
        return expected;
    }
}
