package dev.culvert.appproxy.repositories;

import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.appproxy.repositories.provider.CommitStatus;
import dev.culvert.appproxy.repositories.provider.GitUser;
import dev.culvert.appproxy.repositories.provider.NewPullRequest;
import dev.culvert.appproxy.repositories.provider.NewWebhook;
import dev.culvert.appproxy.repositories.provider.ProviderKind;
import dev.culvert.appproxy.repositories.provider.PullRequest;
import dev.culvert.appproxy.repositories.provider.RepositoriesPage;
import dev.culvert.appproxy.repositories.provider.Repository;
import dev.culvert.appproxy.repositories.provider.Webhook;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * A folder of bare repositories {@code name.git} and {@code owner/name.git}. Links are not followed.
 * Repositories whose names are not valid in calls are left out. Reads on the given scheduler.
 */
final class FolderIntegration implements Integration {
    private static final int MAX_REPOSITORIES = 100_000;
    private static final String SUFFIX = ".git";
    private static final String BRANCH = "ref: refs/heads/";

    private final String name;
    private final Path folder;
    private final Scheduler blocking;

    FolderIntegration(String name, Path folder, Scheduler blocking) {
        this.name = name;
        this.folder = folder;
        this.blocking = blocking;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public ProviderKind kind() {
        return ProviderKind.FOLDER;
    }

    @Override
    public URI cloneUrl(String repository) {
        Path bare = folder.toAbsolutePath().resolve(RepositoryName.checked(repository) + SUFFIX);
        try {
            return new URI("file", "", bare.toString(), null, null); // Path.toUri would read the disk
        } catch (URISyntaxException e) {
            throw new IllegalStateException("an absolute path is the path of a URI", e);
        }
    }

    @Override
    public Path folder() {
        return folder;
    }

    @Override
    public @Nullable Path ca() {
        return null;
    }

    @Override
    public Mono<RepositoriesPage> repositories(@Nullable GitToken token, int page, int limit) {
        return Mono.fromCallable(() -> page(page, limit))
                .onErrorMap(IOException.class, error -> HandlerException.of(Reason.UNAVAILABLE,
                        "the folder of " + name + " can't be read"))
                .subscribeOn(blocking);
    }

    @Override
    public Mono<GitUser> user(GitToken token) {
        return none("Git tokens");
    }

    @Override
    public Mono<PullRequest> createPullRequest(@Nullable GitToken token, NewPullRequest request) {
        return none("pull requests");
    }

    @Override
    public Mono<Webhook> createWebhook(@Nullable GitToken token, NewWebhook request) {
        return none("webhooks");
    }

    @Override
    public Mono<Void> setCommitStatus(@Nullable GitToken token, CommitStatus status) {
        return none("commit statuses");
    }

    private <T> Mono<T> none(String what) {
        return Mono.error(
                HandlerException.of(Reason.BAD_REQUEST, name + " is a plain folder, which has no " + what));
    }

    private RepositoriesPage page(int page, int limit) throws IOException {
        List<String> names = names();
        int from = (int) Math.min(names.size(), (page - 1L) * limit);
        int to = Math.min(names.size(), from + limit);
        List<Repository> data = names.subList(from, to).stream().map(this::repository).toList();
        return new RepositoriesPage(data, page, to - from, to < names.size());
    }

    private List<String> names() throws IOException {
        var names = new TreeSet<String>();
        for (Path entry : folders(folder)) {
            if (isBare(entry)) {
                add(names, "", entry);
            } else {
                String owner = entry.getFileName() + "/";
                folders(entry).stream()
                        .filter(FolderIntegration::isBare)
                        .forEach(inner -> add(names, owner, inner));
            }
            if (names.size() > MAX_REPOSITORIES) {
                throw new IOException("more than " + MAX_REPOSITORIES + " repositories");
            }
        }
        return List.copyOf(names);
    }

    private static void add(Set<String> names, String owner, Path bare) {
        String file = String.valueOf(bare.getFileName());
        String name = owner + file.substring(0, file.length() - SUFFIX.length());
        if (RepositoryName.fits(name)) {
            names.add(name);
        }
    }

    private static List<Path> folders(Path folder) throws IOException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder,
                entry -> !String.valueOf(entry.getFileName()).startsWith(".")
                        && Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))) {
            return StreamSupport.stream(entries.spliterator(), false).toList();
        }
    }

    private static boolean isBare(Path entry) {
        return String.valueOf(entry.getFileName()).endsWith(SUFFIX)
                && Files.isRegularFile(entry.resolve("HEAD"), LinkOption.NOFOLLOW_LINKS)
                && Files.isDirectory(entry.resolve("objects"), LinkOption.NOFOLLOW_LINKS);
    }

    private Repository repository(String fullName) {
        return new Repository(fullName, kind().name(), fullName, cloneUrl(fullName).toString(), null,
                branch(folder.resolve(fullName + SUFFIX)), true, false, null);
    }

    private static @Nullable String branch(Path bare) {
        try {
            String head = Files.readString(bare.resolve("HEAD")).strip();
            return head.startsWith(BRANCH) ? head.substring(BRANCH.length()) : null;
        } catch (IOException e) {
            return null; // deleted since it was listed
        }
    }
}
