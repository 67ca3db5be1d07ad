import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Run by the build: gives the classes for Java 5 in jars the format of Java 8, in place. The verifier of old
 * classes is slow, and an AOT cache leaves them out. The same jar gives the same bytes, whatever the time zone
 * and umask: Ant's depend on both.
 */
final class UpgradeClasses {
    /** The first version whose classes an AOT cache takes. */
    private static final int FIRST_CACHED = ClassFile.JAVA_6_VERSION;

    public static void main(String[] args) throws IOException {
        for (String jar : args) {
            rewrite(Path.of(jar));
        }
    }

    private static void rewrite(Path jar) throws IOException {
        Path upgraded = jar.resolveSibling(jar.getFileName() + ".new");
        try (var in = new JarFile(jar.toFile());
                var loader = new URLClassLoader(new URL[]{jar.toUri().toURL()});
                var out = new ZipOutputStream(Files.newOutputStream(upgraded))) {
            var format = ClassFile.of(ClassFile.StackMapsOption.GENERATE_STACK_MAPS,
                    ClassFile.ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(loader)
                            .orElse(ClassHierarchyResolver.defaultResolver())));
            for (var entry : in.stream().toList()) {
                byte[] content = in.getInputStream(entry).readAllBytes();
                var copy = new ZipEntry(entry.getName());
                copy.setTimeLocal(LocalDateTime.of(2000, 1, 1, 0, 0));
                out.putNextEntry(copy);
                out.write(entry.getName().endsWith(".class") ? upgrade(format, content) : content);
                out.closeEntry();
            }
        }
        Files.move(upgraded, jar, StandardCopyOption.REPLACE_EXISTING);
    }

    private static byte[] upgrade(ClassFile format, byte[] content) {
        var model = format.parse(content);
        if (model.majorVersion() >= FIRST_CACHED) {
            return content;
        }
        ClassTransform version = (builder, element) -> {
            if (element instanceof ClassFileVersion) {
                builder.withVersion(ClassFile.JAVA_8_VERSION, 0);
            } else {
                builder.with(element);
            }
        };
        return format.transformClass(model,
                ClassTransform.transformingMethodBodies((code, element) -> code.with(element)).andThen(version));
    }
}
