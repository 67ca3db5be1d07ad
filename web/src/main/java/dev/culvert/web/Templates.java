package dev.culvert.web;

import gg.jte.Content;
import gg.jte.ContentType;
import gg.jte.TemplateEngine;
import gg.jte.output.Utf8ByteOutput;

/**
 * The compiled templates of one module. They escape what they print by its place in the HTML. Safe for use by
 * any thread; rendering neither blocks nor waits.
 */
public final class Templates {
    private final TemplateEngine engine;

    private Templates(TemplateEngine engine) {
        this.engine = engine;
    }

    /**
     * The templates of a module.
     *
     * @param packageName the package that its pom.xml names for the template generator
     * @param owner a class of the module
     */
    public static Templates of(String packageName, Class<?> owner) {
        return new Templates(TemplateEngine.createPrecompiled(null, ContentType.Html, owner.getClassLoader(),
                packageName));
    }

    /** A part of a page, rendered when the page is. */
    public Content content(String template, Object model) {
        return output -> engine.render(template, model, output);
    }

    /** The bytes of a template, in UTF-8. */
    public byte[] bytes(String template, Object model) {
        var output = new Utf8ByteOutput();
        engine.render(template, model, output);
        return output.toByteArray();
    }
}
