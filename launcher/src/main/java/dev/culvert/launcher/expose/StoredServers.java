package dev.culvert.launcher.expose;

import dev.culvert.certs.Sha256;
import dev.culvert.config.Reason;
import dev.culvert.launcher.run.CommandException;
import dev.culvert.launcher.run.ExitCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Comparator;
import java.util.HexFormat;
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
    /** Never in the name of a server, as they have a dot. */
    private static final String UNFINISHED = ".unfinished-";
    private static final String REPLACED = ".replaced";
    /** What may not be thrown away: a key to which a token is or may be bound. */
    private static final List<String> KEYS = List.of("client.key", "client.crt", "next.key");
    private static final Pattern NAME = Pattern.compile("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?");

    /** Those of this user (XDG Base Directory Specification). */
    static StoredServers ofUser(Map<String, String> environment) {
        String data = environment.getOrDefault("XDG_DATA_HOME", "");
        // Java's user.home is that of the user database, whatever HOME says.
        String home = environment.getOrDefault("HOME", "");
        Path folder = data.startsWith("/")
                ? Path.of(data)
                : Path.of(home.startsWith("/") ? home : System.getProperty("user.home"), ".local", "share");
        return new StoredServers(folder.resolve("culvert"));
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
                    .map(name -> name.endsWith(REPLACED) // one that recover brings back
                            ? name.substring(0, name.length() - REPLACED.length())
                            : name)
                    .filter(name -> NAME.matcher(name).matches())
                    .distinct()
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw unusable(root, e);
        }
    }

    /** The name that is meant: with null the only one, or {@code default}. */
    String chosen(@Nullable String name) {
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
        return wanted;
    }

    /** The server of a name. The caller has its lock. */
    StoredServer read(String name) {
        recover(name);
        return StoredServer.read(name, root.resolve(name));
    }

    /** Creates the folder of all. */
    Path makeRoot() {
        return made(root);
    }

    /**
     * Completes what a {@link #finish} that was cut off has begun: a connection that was moved away for one
     * that never came is back. The caller has the name's lock.
     */
    void recover(String name) {
        Path before = root.resolve(name + REPLACED);
        try {
            if (Files.exists(before) && !has(name)) {
                Files.move(before, root.resolve(name), StandardCopyOption.ATOMIC_MOVE);
            }
            remove(before);
        } catch (IOException e) {
            throw unusable(before, e);
        }
    }

    /**
     * The folder in which a connection is made, another one for each token. One that was left unfinished goes
     * on with its key, because the token may be bound to it.
     */
    Path unfinished(String name, String token) {
        byte[] digest = Sha256.of(token.getBytes(StandardCharsets.UTF_8)).bytes();
        return made(root.resolve(name + UNFINISHED + HexFormat.of().formatHex(digest, 0, 8)));
    }

    /** Gives an unfinished folder its name. Replaces the folder that has it. The caller has its lock. */
    Path finish(String name, Path unfinished) {
        Path folder = root.resolve(name);
        try {
            recover(name);
            if (Files.exists(folder)) {
                Files.move(folder, root.resolve(name + REPLACED), StandardCopyOption.ATOMIC_MOVE);
            }
            Files.move(unfinished, folder, StandardCopyOption.ATOMIC_MOVE);
            recover(name);
            return folder;
        } catch (IOException e) {
            throw unusable(folder, e);
        }
    }

    /** Removes an unfinished folder, unless it holds a key. */
    static void abandon(Path unfinished) {
        try {
            if (KEYS.stream().noneMatch(key -> Files.exists(unfinished.resolve(key)))) {
                remove(unfinished);
            }
        } catch (IOException e) {
            throw unusable(unfinished, e);
        }
    }

    private static Path made(Path folder) {
        try {
            return Files.createDirectories(folder,
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
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

    static CommandException unusable(Path path, IOException failed) {
        return new CommandException(ExitCode.CONFIG, path
                + " can't be used: " + Reason.of(failed)
                + " (expected: a folder that this user may write to)");
    }
}
