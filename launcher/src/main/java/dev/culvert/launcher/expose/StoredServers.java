package dev.culvert.launcher.expose;

import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that this user has connected to, each in a folder of its name. All methods block.
 *
 * @param root {@code $XDG_DATA_HOME/culvert}
 */
record StoredServers(Path root) {
    static final String DEFAULT = "default";
    /** Never the name of a server, as it has a dot. */
    private static final String UNFINISHED = ".unfinished";
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /** Those of this user (XDG Base Directory Specification). */
    static StoredServers ofUser(Map<String, String> environment) {
        String home = environment.getOrDefault("XDG_DATA_HOME", "");
        Path data = home.startsWith("/")
                ? Path.of(home)
                : Path.of(System.getProperty("user.home"), ".local", "share");
        return new StoredServers(data.resolve("culvert"));
    }

    /** Throws unless {@code name} can be a server's. */
    static void requireName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new CommandException(ExitCode.USAGE, "--name: '" + name
                    + "' (expected: at most 63 of a-z, 0-9 and -, as staging)");
        }
    }

    boolean has(String name) {
        return Files.isDirectory(root.resolve(name));
    }

    /** The names, in alphabetical order. */
    List<String> names() {
        if (!Files.isDirectory(root)) {
            return List.of();
        }
        try (Stream<Path> folders = Files.list(root)) {
            return folders.filter(Files::isDirectory)
                    .map(folder -> String.valueOf(folder.getFileName()))
                    .filter(name -> NAME.matcher(name).matches())
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw unusable(root, e);
        }
    }

    /** The server of that name; with null the only one, or the one that is named {@code default}. */
    StoredServer chosen(@Nullable String name) {
        if (name != null) {
            requireName(name);
        }
        List<String> names = names();
        if (names.isEmpty()) {
            throw new CommandException(ExitCode.CONFIG,
                    "no server is known here (expected: once culvert connect"
                            + " wss://HOST:PORT --token-file FILE, with a token of culvert runtime create)");
        }
        String wanted = name != null ? name : names.size() == 1 ? names.getFirst() : DEFAULT;
        if (!names.contains(wanted)) {
            throw new CommandException(ExitCode.CONFIG, (name == null
                    ? "several servers are known here and none is named " + DEFAULT + " (expected: --name)"
                    : "no server is named " + name + " here") + "; there are: " + String.join(", ", names));
        }
        return StoredServer.read(wanted, root.resolve(wanted));
    }

    /**
     * The folder in which a connection is made. One that was left unfinished goes on with its key, because
     * the token may be bound to it.
     */
    Path unfinished(String name) {
        Path folder = root.resolve(name + UNFINISHED);
        try {
            Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
            return folder;
        } catch (IOException e) {
            throw unusable(folder, e);
        }
    }

    /** Gives the unfinished folder its name. Replaces the folder that has it. */
    Path finish(String name) {
        Path folder = root.resolve(name);
        Path before = root.resolve(name + ".replaced");
        try {
            remove(before);
            if (Files.exists(folder)) {
                Files.move(folder, before, StandardCopyOption.ATOMIC_MOVE);
            }
            Files.move(root.resolve(name + UNFINISHED), folder, StandardCopyOption.ATOMIC_MOVE);
            remove(before);
            return folder;
        } catch (IOException e) {
            throw unusable(folder, e);
        }
    }

    /** Removes the folder of a connection that was refused for good, unless it holds a key. */
    void abandon(String name) {
        Path folder = root.resolve(name + UNFINISHED);
        try {
            if (!Files.exists(folder.resolve("next.key"))) {
                remove(folder);
            }
        } catch (IOException e) {
            throw unusable(folder, e);
        }
    }

    private static void remove(Path folder) throws IOException {
        if (!Files.exists(folder)) {
            return;
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }

    private static CommandException unusable(Path path, IOException failed) {
        String reason = failed instanceof DirectoryNotEmptyException
                ? "another process uses it"
                : String.valueOf(failed.getMessage());
        return new CommandException(ExitCode.CONFIG, path
                + " can't be used: " + reason + " (expected: a folder that this user may write to)");
    }
}
