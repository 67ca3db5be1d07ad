package dev.culvert.config;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Describes one component of a configuration record. A component without a default that is not {@code @Nullable} is
 * required, but for lists and maps, which are empty when absent; a nested record without a {@code Setting} is bound with the defaults of its own components.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface Setting {
    /** What it is, its unit and the reason for its default, in one line: shown by {@code --help} and docs/config.md. */
    String value();

    /** The key, where the component can't have its name because that is a word of Java; empty: the component's name. */
    String key() default "";

    /** The default as one would write it in the file; empty: none. */
    String byDefault() default "";

    /** What is accepted, as error messages say it ("1..4", "one of text, json"); empty: what the type says. */
    String accepts() default "";

    /** Whether the value itself must never be printed. */
    boolean secret() default false;

    /** Whether only a file can set it (route tables). */
    boolean fileOnly() default false;
}
