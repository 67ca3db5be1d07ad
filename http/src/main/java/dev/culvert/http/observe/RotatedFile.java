package dev.culvert.http.observe;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of lines that only its owner can read. A full file is renamed to {@code name.1}, and the oldest file
 * is deleted. Used by one thread.
 */
public final class RotatedFile {
    /** About 30,000 lines. With the older files 40 MiB. */
    public static final long USUAL_BYTES = 8L << 20;
    /** The number of older files kept beside the current one. */
    public static final int OLDER = 4;

    private static final Set<PosixFilePermission> OWNER_ALONE = PosixFilePermissions.fromString("rw-------");

    private final Path folder;
    private final String name;
    private final long maxBytes;
    private @Nullable FileChannel channel;
    private long size;

    /** The first line creates the folder and opens the file. */
    public RotatedFile(Path folder, String name, long maxBytes) {
        this.folder = folder;
        this.name = name;
        this.maxBytes = maxBytes;
    }

    /** The current file. */
    public Path path() {
        return folder.resolve(name);
    }

    /** Appends a line. Blocks. */
    public void append(String text) throws IOException {
        ByteBuffer line = ByteBuffer.wrap((text + "\n").getBytes(StandardCharsets.UTF_8));
        FileChannel to = channel == null ? open() : channel;
        if (size > 0 && size + line.remaining() > maxBytes) {
            close();
            rotate();
            to = open();
        }
        size += line.remaining();
        while (line.hasRemaining()) {
            to.write(line);
        }
    }

    private FileChannel open() throws IOException {
        Files.createDirectories(folder);
        boolean posix = Files.getFileStore(folder).supportsFileAttributeView("posix");
        var options = Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND);
        FileChannel opened = posix
                ? FileChannel.open(path(), options, PosixFilePermissions.asFileAttribute(OWNER_ALONE))
                : FileChannel.open(path(), options);
        if (posix) {
            Files.setPosixFilePermissions(path(), OWNER_ALONE);
        }
        size = opened.size();
        channel = opened;
        return opened;
    }

    private void rotate() throws IOException {
        for (int i = OLDER; i > 0; i--) {
            Path from = i == 1 ? path() : folder.resolve(name + "." + (i - 1));
            if (Files.exists(from)) {
                Files.move(from, folder.resolve(name + "." + i), StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    /** Closes the file. A later {@link #append} opens it again. */
    public void close() {
        FileChannel open = channel;
        channel = null;
        if (open != null) {
            try {
                open.close();
            } catch (IOException e) {
                // the kernel already has all written lines
            }
        }
    }
}
