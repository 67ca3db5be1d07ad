package dev.culvert.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes one component of a configuration record. A component that has no default and is not {@code
 * @Nullable} is required. Lists and maps are never required: they are empty when absent. A nested record
 * without a {@code Setting} is bound with the defaults of its own components.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {
    /**
     * The meaning, the unit and the reason for the default, in one line. {@code --help} and docs/config.md
     * show it.
     */
    String value();

    /**
     * The key, if it is a keyword of Java and so cannot be the component's name. Empty: the component's name.
     */
    String key() default "";

    /**
     * The environment variable, if the one that the key's words make has another meaning. Empty: that of the
     * words.
     */
    String variable() default "";

    /** The default in the notation of the file. Empty: no default. */
    String byDefault() default "";

    /**
     * The accepted values, as error messages show them ("1..4", "one of text, json"). Empty: the description
     * of the type.
     */
    String accepts() default "";

    /**
     * Whether a file may give this component's value in place of its whole record ({@code standby: wait}).
     * Key, flag and variable are then those of the record. At most one component of a record.
     */
    boolean shorthand() default false;

    /** Whether the value must never be printed. */
    boolean secret() default false;

    /** Whether only a file can set it (route tables). */
    boolean fileOnly() default false;
}
