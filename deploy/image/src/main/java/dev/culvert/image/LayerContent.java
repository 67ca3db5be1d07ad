package dev.culvert.image;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The files of a layer, by their path in the image. All of them belong to root; folders are made as needed.
 */
final class LayerContent {
    private static final int FOLDER = 0755;
    private static final int PLAIN = 0644;
    private static final int EXECUTABLE = 0755;

    private final String comment;
    private final SortedMap<String, Entry> entries = new TreeMap<>();

    /** @param comment what the layer holds, for the image's history */
    LayerContent(String comment) {
        this.comment = comment;
    }

    private sealed interface Entry {
        record Folder(int mode) implements Entry {}

        record Link(String target) implements Entry {}

        record Copied(Path source, int mode) implements Entry {}

        record Written(String text, int mode) implements Entry {}
    }

    String comment() {
        return comment;
    }

    /**
     * Adds what is below a folder, as far as its path there is wanted. Files keep whether they can be
     * executed.
     */
    LayerContent tree(Path folder, String to, Predicate<String> wanted) throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            for (Path file : all.sorted().toList()) {
                String path = folder.relativize(file).toString();
                String name = to.isEmpty() ? path : to + "/" + path;
                if (path.isEmpty() || !wanted.test(path)) {
                    continue;
                }
                if (Files.isSymbolicLink(file)) {
                    add(name, new Entry.Link(Files.readSymbolicLink(file).toString()));
                } else if (Files.isDirectory(file)) {
                    add(name, new Entry.Folder(path.equals("tmp") ? 01777 : FOLDER));
                } else {
                    add(name, new Entry.Copied(file, Files.isExecutable(file) ? EXECUTABLE : PLAIN));
                }
            }
        }
        return this;
    }

    LayerContent executable(String name, String content) {
        add(name, new Entry.Written(content, EXECUTABLE));
        return this;
    }

    LayerContent plain(String name, String content) {
        add(name, new Entry.Written(content, PLAIN));
        return this;
    }

    LayerContent copy(String name, Path source) {
        add(name, new Entry.Copied(source, PLAIN));
        return this;
    }

    private void add(String name, Entry entry) {
        for (int slash = name.indexOf('/'); slash > 0; slash = name.indexOf('/', slash + 1)) {
            entries.putIfAbsent(name.substring(0, slash), new Entry.Folder(FOLDER));
        }
        entries.put(name, entry);
    }

    void write(TarWriter tar) throws IOException {
        for (var named : entries.entrySet()) {
            switch (named.getValue()) {
                case Entry.Folder folder -> tar.folder(named.getKey(), folder.mode());
                case Entry.Link link -> tar.link(named.getKey(), link.target());
                case Entry.Copied copied -> tar.file(named.getKey(), copied.mode(), copied.source());
                case Entry.Written written ->
                    tar.file(named.getKey(), written.mode(), written.text().getBytes(StandardCharsets.UTF_8));
            }
        }
    }
}
