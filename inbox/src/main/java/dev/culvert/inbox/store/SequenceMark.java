package dev.culvert.inbox.store;

import dev.culvert.store.SqliteDatabase;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sequence number of the newest webhook, in a file beside the database. SQLite ignores what follows a
 * damaged place of its write-ahead log, or all of it when the log is missing, and reports nothing: a database
 * whose newest webhook is older than the mark has lost acknowledged ones. The mark is written after each
 * commit, and forced to disk at most once a second, so it never exceeds what was committed.
 *
 * <p>Belongs to the commit thread.
 */
public final class SequenceMark implements AutoCloseable {
    static final String FILE = "inbox.last";
    private static final Logger log = LoggerFactory.getLogger(SequenceMark.class);
    private static final int BYTES = 2 * Long.BYTES;
    private static final long FORCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Not a channel: the interrupt that ends the commit thread would close it. */
    private final RandomAccessFile file;
    private final ByteBuffer bytes = ByteBuffer.allocate(BYTES);
    private final long atStart;
    private long written;
    private boolean unforced;
    private long forcedNanos = System.nanoTime() - FORCE_NANOS;
    private boolean failed;

    private SequenceMark(RandomAccessFile file) throws IOException {
        this.file = file;
        this.atStart = read();
        this.written = atStart;
    }

    /** Opens or creates the mark of a folder. */
    static SequenceMark open(Path folder) throws IOException {
        Path path = folder.resolve(FILE);
        SqliteDatabase.makeFile(path);
        var file = new RandomAccessFile(path.toFile(), "rw");
        try {
            return new SequenceMark(file);
        } catch (IOException unreadable) {
            file.close();
            throw unreadable;
        }
    }

    /** Reads the number, which is followed by its complement; 0: there is none, or it is damaged. */
    private long read() throws IOException {
        if (file.length() < BYTES) {
            return 0;
        }
        file.readFully(bytes.array());
        long last = bytes.getLong(0);
        return last > 0 && bytes.getLong(Long.BYTES) == ~last ? last : 0;
    }

    /** The number when the file was opened; 0: none. */
    long atStart() {
        return atStart;
    }

    /** Writes the number of the newest committed webhook. */
    void write(long last) {
        try {
            if (last != written) {
                bytes.putLong(0, last).putLong(Long.BYTES, ~last);
                file.seek(0);
                file.write(bytes.array());
                written = last;
                unforced = true;
            }
            if (unforced && System.nanoTime() - forcedNanos >= FORCE_NANOS) {
                force();
            }
            failed = false;
        } catch (IOException cannot) {
            if (!failed) {
                failed = true;
                log.atWarn()
                        .addKeyValue("file", FILE)
                        .addKeyValue("reason", cannot.getMessage())
                        .log("mark of the newest webhook could not be written");
            }
        }
    }

    private void force() throws IOException {
        file.getFD().sync();
        unforced = false;
        forcedNanos = System.nanoTime();
    }

    @Override
    public void close() throws IOException {
        try (file) {
            if (unforced) {
                force();
            }
        }
    }
}
