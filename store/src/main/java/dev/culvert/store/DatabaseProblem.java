package dev.culvert.store;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;
import org.sqlite.SQLiteErrorCode;
import org.sqlite.SQLiteException;

/** Describes for operators why a database or its folder cannot be used, and what is expected instead. */
public final class DatabaseProblem {
    private static final String RESTORE = " (expected: a database of Culvert's, or none: restore a backup, or move it"
            + " away to begin with an empty one)";
    private static final String WRITABLE = " (expected: a folder that this user may write to; made when absent)";

    private DatabaseProblem() {}

    /** The error for a failure on {@code file}. Blocks: examines the disk. */
    public static StoreException.Failed of(Path file, Exception cause) {
        String text = switch (cause) {
            case SQLiteException sqlite -> told(file, sqlite);
            case IOException io -> told(file, io);
            default -> "the database " + file + " can't be used: " + cause.getMessage();
        };
        return new StoreException.Failed(text, cause);
    }

    /** Whether another process holds SQLite's lock. */
    public static boolean isLock(SQLException cause) {
        return cause instanceof SQLiteException sqlite
                && (code(sqlite) == SQLiteErrorCode.SQLITE_BUSY
                        || code(sqlite) == SQLiteErrorCode.SQLITE_LOCKED);
    }

    /** Whether the disk or the database's share of it is full. */
    public static boolean isFull(SQLException cause) {
        return cause instanceof SQLiteException sqlite && code(sqlite) == SQLiteErrorCode.SQLITE_FULL;
    }

    /** Whether the written data caused the failure, so that other data can still be written. */
    public static boolean isOfData(SQLException cause) {
        return cause instanceof SQLiteException sqlite && switch (code(sqlite)) {
            case SQLITE_CONSTRAINT, SQLITE_MISMATCH, SQLITE_TOOBIG -> true;
            default -> false;
        };
    }

    private static SQLiteErrorCode code(SQLiteException cause) {
        // An extended code's lowest byte is the primary one (sqlite.org/rescode.html).
        return SQLiteErrorCode.getErrorCode(cause.getResultCode().code & 0xff);
    }

    private static String told(Path file, SQLiteException cause) {
        return switch (code(cause)) {
            case SQLITE_NOTADB, SQLITE_CORRUPT -> file + " is no database, or is damaged" + RESTORE;
            case SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_CONSTRAINT ->
                file + " is not a database of Culvert's" + RESTORE;
            case SQLITE_BUSY, SQLITE_LOCKED -> file
                    + " is locked by another process, which is no culvert of this version (expected: a folder of its own"
                    + " for each server)";
            case SQLITE_FULL -> file + " can't grow: the disk is full";
            case SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_PERM -> file + " can't be written" + WRITABLE;
            default -> "the database " + file + " failed: " + cause.getMessage();
        };
    }

    private static String told(Path file, IOException cause) {
        Path folder = file.toAbsolutePath().getParent();
        Path taken = folder == null ? null : firstNoFolder(folder);
        if (taken != null) {
            return taken + " is a file" + WRITABLE;
        }
        String reason = cause instanceof FileSystemException known && known.getReason() != null
                ? ": " + known.getReason()
                : "";
        return file.getParent() + " can't be made or written" + reason + WRITABLE;
    }

    /**
     * The first existing part of the path that is not a folder, or null if all existing parts are folders.
     */
    private static @Nullable Path firstNoFolder(Path folder) {
        for (Path part = folder; part != null; part = part.getParent()) {
            if (Files.exists(part)) {
                return Files.isDirectory(part) ? null : part;
            }
        }
        return null;
    }
}
