package dev.culvert.standins.git;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jgit.errors.MissingObjectException;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.revwalk.RevWalk;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;

/**
 * The data of a stand-in: users, bare repositories in {@code <folder>/<owner>/<name>.git}, and the objects
 * created for them. Several stand-ins may share one. Safe for use by any thread; blocks on the disk.
 */
public final class GitHost {
    /** The configuration that makes a folder an empty bare repository for Git. */
    private static final String CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

    private final Path folder;
    private final Map<String, HostedUser> users = new ConcurrentHashMap<>();
    private final Map<String, HostedRepository> repositories = new LinkedHashMap<>();
    private final List<HostedObject> objects = new ArrayList<>();

    /** @param folder the folder of the repositories, created if absent */
    public GitHost(Path folder) throws IOException {
        this.folder = Files.createDirectories(folder);
    }

    /** The folder of the bare repositories. */
    public Path folder() {
        return folder;
    }

    /** Adds a user, or replaces the one with the same token. */
    public GitHost user(HostedUser user) {
        users.put(user.token(), user);
        return this;
    }

    /** Revokes the token of a user. */
    public void forget(String token) {
        users.remove(token);
    }

    /**
     * Creates an empty, private bare repository with the default branch {@code main}. An existing repository
     * is kept.
     */
    public synchronized HostedRepository repository(String fullName) throws IOException {
        HostedRepository known = repositories.get(fullName);
        if (known != null) {
            return known;
        }
        int slash = fullName.lastIndexOf('/');
        var added = new HostedRepository(repositories.size() + 1, fullName.substring(0, slash),
                fullName.substring(slash + 1), true);
        Path bare = bare(added);
        if (Files.notExists(bare.resolve("HEAD"))) {
            Files.createDirectories(bare.resolve("objects"));
            Files.createDirectories(bare.resolve("refs/heads"));
            Files.writeString(bare.resolve("config"), CONFIG);
            Files.writeString(bare.resolve("HEAD"), "ref: refs/heads/main\n");
        }
        repositories.put(fullName, added);
        return added;
    }

    /** The folder of a repository. */
    public Path bare(HostedRepository repository) {
        return folder.resolve(repository.fullName() + ".git");
    }

    /** The created objects of a kind, {@code pull}, {@code hook} or {@code status}, the oldest first. */
    public synchronized List<HostedObject> made(String kind) {
        return objects.stream().filter(object -> object.kind().equals(kind)).toList();
    }

    synchronized Optional<HostedRepository> find(String fullName) {
        return Optional.ofNullable(repositories.get(fullName));
    }

    /** All repositories in the order in which they were added. */
    synchronized List<HostedRepository> all() {
        return List.copyOf(repositories.values());
    }

    Optional<HostedUser> owner(String token) {
        return Optional.ofNullable(users.get(token));
    }

    synchronized HostedObject make(String kind, HostedRepository repository, HostedUser by, JsonNode body) {
        long before = objects.stream()
                .filter(object -> object.kind().equals(kind)
                        && object.repository().equals(repository.fullName()))
                .count();
        var made = new HostedObject(kind, Math.toIntExact(before + 1), repository.fullName(), by.login(),
                body);
        objects.add(made);
        return made;
    }

    Repository open(HostedRepository repository) throws IOException {
        return new FileRepositoryBuilder().setGitDir(bare(repository).toFile())
                .setBare()
                .setMustExist(true)
                .build();
    }

    boolean hasBranch(HostedRepository repository, String branch) throws IOException {
        try (Repository git = open(repository)) {
            return git.exactRef("refs/heads/" + branch) != null;
        }
    }

    boolean hasCommit(HostedRepository repository, String sha) throws IOException {
        if (!ObjectId.isId(sha)) {
            return false;
        }
        try (Repository git = open(repository); RevWalk walk = new RevWalk(git)) {
            return walk.parseCommit(ObjectId.fromString(sha)) != null;
        } catch (MissingObjectException e) {
            return false;
        }
    }
}
