package dev.culvert.dist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Rewrites jars so that their bytes follow from their content alone. */
final class ReproducibleJar {
    private static final LocalDateTime TIME = LocalDateTime.of(2000, 1, 1, 0, 0);

    private ReproducibleJar() {}

    /** Rewrites a jar in place, in the order of its entries, without modes, with one time for all. */
    static void rewrite(Path jar) throws IOException {
        Path rewritten = jar.resolveSibling(jar.getFileName() + ".new");
        try (var in = new JarFile(jar.toFile());
                var out = new ZipOutputStream(Files.newOutputStream(rewritten))) {
            for (var entry : in.stream().toList()) {
                var copy = new ZipEntry(entry.getName());
                copy.setTimeLocal(TIME);
                out.putNextEntry(copy);
                try (var content = in.getInputStream(entry)) {
                    content.transferTo(out);
                }
                out.closeEntry();
            }
        }
        Files.move(rewritten, jar, StandardCopyOption.REPLACE_EXISTING);
    }
}
