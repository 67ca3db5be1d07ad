package dev.culvert.launcher.expose;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * The right to use or change the connection of one name, for one process at a time. Two clients with one
 * identity would take the runtime over from each other, and a replaced identity must have no client. Held
 * until it is closed or the process ends. All methods block.
 */
final class ConnectionLock implements AutoCloseable {
    private final FileChannel channel;

    private ConnectionLock(FileChannel channel) {
        this.channel = channel;
    }

    /** Takes the lock of a name. Throws {@link CommandException} that names the process which holds it. */
    static ConnectionLock take(StoredServers servers, String name) {
        Path file = servers.makeRoot().resolve(name + ".lock");
        try {
            FileChannel channel = FileChannel.open(file,
                    Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE),
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            try {
                if (channel.tryLock() != null) {
                    channel.truncate(0);
                    channel.write(ByteBuffer.wrap(
                            (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
                    return new ConnectionLock(channel);
                }
            } catch (OverlappingFileLockException e) {
                // This process holds it.
            }
            channel.close();
            throw new CommandException(ExitCode.UNAVAILABLE, "process " + Files.readString(file).strip()
                    + " uses the connection " + name
                    + " already; end that one, or connect another runtime under another --name");
        } catch (IOException e) {
            throw StoredServers.unusable(file, e);
        }
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            // The end of the process releases it.
        }
    }
}
