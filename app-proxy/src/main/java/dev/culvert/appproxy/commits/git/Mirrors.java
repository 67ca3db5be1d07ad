package dev.culvert.appproxy.commits.git;

import dev.culvert.config.ConfigException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A bounded cache of mirrors in a folder that only this process uses. Mirrors of an earlier process are
 * deleted at the start, because a check for writes cut short would cost more than fetching them again.
 * Blocks. Callable from any thread. Each mirror is lent to one borrower at a time.
 */
public final class Mirrors implements AutoCloseable {
    /**
     * The number of uses after which a mirror is deleted. Fetches leave packs, commits loose objects: a new
     * mirror is cheaper than garbage collection.
     */
    private static final int USES_OF_A_MIRROR = 500;

    private static final Pattern MIRROR = Pattern.compile("[0-9a-f]{32}(-[0-9]{1,19})?");

    private static final Logger LOG = LoggerFactory.getLogger(Mirrors.class);

    private final Path folder;
    private final int maxMirrors;
    private final long maxBytes;
    private final Map<String, Slot> slots = new LinkedHashMap<>(16, 0.75f, true);
    private long made;
    private @Nullable FileChannel lock;

    /**
     * Makes a cache. The folder is not touched before {@link #open}.
     *
     * @param maxMirrors the maximum number of unused mirrors
     * @param maxBytes the maximum size of these on the disk
     */
    public Mirrors(Path folder, int maxMirrors, long maxBytes) {
        this.folder = folder;
        this.maxMirrors = maxMirrors;
        this.maxBytes = maxBytes;
    }

    /**
     * Locks the folder and deletes the mirrors in it. Throws ConfigException if another process has locked
     * it.
     */
    public void open() throws IOException {
        Files.createDirectories(folder,
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        lock = FileChannel.open(folder.resolve("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (!locked(lock)) {
            lock.close();
            throw new ConfigException("handlers.commits.cacheFolder", "a folder that no other process uses");
        }
        try (Stream<Path> left = Files.list(folder)) {
            for (Path old : left.filter(path -> MIRROR.matcher(path.getFileName().toString()).matches())
                    .toList()) {
                delete(old);
            }
        }
    }

    /**
     * Lends the mirror of a key to one borrower until it is given back. While it is lent, a second borrower
     * of the key gets a new mirror, because the first may be in any state.
     */
    public Mirror borrow(String key) throws IOException {
        Path place;
        synchronized (slots) {
            Slot slot = slots.get(key);
            if (slot != null && !slot.lent) {
                slot.lent = true;
                return slot.mirror;
            }
            place = folder.resolve(name(key) + "-" + made++);
        }
        Mirror mirror;
        try {
            mirror = Mirror.create(place);
        } catch (IOException e) {
            delete(place);
            throw e;
        }
        synchronized (slots) {
            slots.put(key, new Slot(mirror));
        }
        return mirror;
    }

    /** Takes back a mirror. Deletes the least recently used mirrors beyond the limits. */
    public void giveBack(String key, Mirror mirror) {
        long bytes = mirror.bytes();
        List<Mirror> evicted = new ArrayList<>();
        synchronized (slots) {
            Slot slot = slots.get(key);
            if (slot == null || slot.mirror != mirror) {
                evicted.add(mirror);
            } else if (bytes > maxBytes || mirror.used() >= USES_OF_A_MIRROR) {
                slots.remove(key);
                evicted.add(mirror);
            } else {
                slot.lent = false;
                slot.bytes = bytes;
            }
            evict(evicted);
        }
        evicted.forEach(Mirrors::drop);
    }

    /** Takes back a mirror after a failure, and deletes it. */
    public void discard(String key, Mirror mirror) {
        synchronized (slots) {
            Slot slot = slots.get(key);
            if (slot != null && slot.mirror == mirror) {
                slots.remove(key);
            }
        }
        drop(mirror);
    }

    /** The number of mirrors. */
    int size() {
        synchronized (slots) {
            return slots.size();
        }
    }

    /** The maximum size of a mirror on the disk, in bytes. */
    long maxBytes() {
        return maxBytes;
    }

    /** Unlocks the folder. Its contents stay, and the next process deletes them. */
    @Override
    public void close() throws IOException {
        FileChannel held = lock;
        if (held != null) {
            held.close();
        }
    }

    private void evict(List<Mirror> evicted) {
        long bytes = slots.values().stream().mapToLong(slot -> slot.bytes).sum();
        Iterator<Slot> eldest = slots.values().iterator();
        while (eldest.hasNext() && (bytes > maxBytes || slots.size() > maxMirrors)) {
            Slot slot = eldest.next();
            if (!slot.lent) {
                eldest.remove();
                bytes -= slot.bytes;
                evicted.add(slot.mirror);
            }
        }
    }

    private static void drop(Mirror mirror) {
        mirror.close();
        try {
            delete(mirror.folder());
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("error", e.toString())
                    .log("a mirror could not be deleted; the next start deletes it");
        }
    }

    private static boolean locked(FileChannel channel) throws IOException {
        try {
            FileLock taken = channel.tryLock();
            return taken != null;
        } catch (OverlappingFileLockException e) {
            return false;
        }
    }

    private static String name(String key) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static void delete(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.deleteIfExists(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path visited, @Nullable IOException error)
                    throws IOException {
                Files.deleteIfExists(visited);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** A mirror with its state in the cache. */
    private static final class Slot {
        private final Mirror mirror;
        private boolean lent = true;
        private long bytes;

        Slot(Mirror mirror) {
            this.mirror = mirror;
        }
    }
}
