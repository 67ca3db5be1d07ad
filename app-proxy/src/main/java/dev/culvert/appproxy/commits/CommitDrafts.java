package dev.culvert.appproxy.commits;

import dev.culvert.appproxy.access.AuthenticatedCaller;
import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.PersonIdent;

/** Makes drafts from requests, within the limits. Errors: HandlerException BAD_REQUEST, BODY_TOO_LARGE. */
final class CommitDrafts {
    private final CommitsSettings settings;
    private final InstantSource clock;

    CommitDrafts(CommitsSettings settings, InstantSource clock) {
        this.settings = settings;
        this.clock = clock;
    }

    /** A commit that writes files. Files without a revision must not exist yet. */
    CommitDraft writing(AuthenticatedCaller caller, Branch branch, CommitArguments arguments) {
        return draft(caller, branch, arguments, writes(arguments));
    }

    /**
     * The commit of a pull request's files to its branch. The branch is created from {@code base} if it does
     * not exist.
     */
    CommitDraft promoting(AuthenticatedCaller caller, Branch head, Branch base, CommitArguments arguments) {
        List<FileChange> changes = writes(arguments);
        within(changes);
        return new CommitDraft(head, base, changes, message(arguments.required("title"), arguments),
                author(caller),
                false,
                arguments.flag("force"));
    }

    private static String message(String subject, CommitArguments arguments) {
        String description = arguments.text("description", "").strip();
        return description.isEmpty() ? subject.strip() : subject.strip() + "\n\n" + description;
    }

    private List<FileChange> writes(CommitArguments arguments) {
        boolean force = arguments.flag("force");
        List<FileChange> changes = new ArrayList<>();
        for (CommitArguments file : arguments.objects("files")) {
            ObjectId revision = file.revision();
            changes.add(new FileChange.Write(new FilePath(file.required("path")),
                    force ? Expected.ANYTHING : Expected.exactly(revision), content(file)));
        }
        return changes;
    }

    /** A commit that deletes files. Files without a revision may have any revision. */
    CommitDraft deleting(AuthenticatedCaller caller, Branch branch, CommitArguments arguments) {
        boolean force = arguments.flag("force");
        List<FileChange> changes = new ArrayList<>();
        for (CommitArguments file : arguments.objects("files")) {
            ObjectId revision = file.revision();
            changes.add(new FileChange.Delete(new FilePath(file.required("path")),
                    force || revision == null ? Expected.ANYTHING : Expected.exactly(revision)));
        }
        return draft(caller, branch, arguments, changes);
    }

    /** A commit that the App-Proxy makes in the caller's name. */
    CommitDraft of(AuthenticatedCaller caller, Branch branch, List<FileChange> changes, String message) {
        return new CommitDraft(branch, null, changes, message, author(caller), false, false);
    }

    private CommitDraft draft(AuthenticatedCaller caller, Branch branch, CommitArguments arguments,
            List<FileChange> changes) {
        boolean allowEmpty = arguments.flag("allowEmpty");
        if (!changes.isEmpty() || !allowEmpty) {
            within(changes);
        }
        return new CommitDraft(branch, arguments.branch("baseBranch"), changes,
                message(arguments.required("msg"), arguments),
                author(caller), allowEmpty, arguments.flag("force"));
    }

    private void within(List<FileChange> changes) {
        if (changes.isEmpty() || changes.size() > settings.maxFiles()) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "a commit has 1 to " + settings.maxFiles() + " files");
        }
        long bytes = changes.stream()
                .mapToLong(change -> change instanceof FileChange.Write write ? write.content().length() : 0)
                .sum();
        if (bytes > settings.maxCommitBytes().bytes()) {
            throw HandlerException.of(Reason.BODY_TOO_LARGE,
                    "the files of a commit have at most " + settings.maxCommitBytes().bytes() + " bytes");
        }
        ChangeTree.of(changes);
    }

    private PersonIdent author(AuthenticatedCaller caller) {
        String name = caller.displayName().isBlank() ? caller.id() : caller.displayName();
        return new PersonIdent(name, caller.email(), clock.instant().truncatedTo(ChronoUnit.SECONDS),
                ZoneOffset.UTC);
    }

    private FileContent content(CommitArguments file) {
        String data = file.text("data", "");
        byte[] bytes = file.text("encoding", "UTF8").equals("BASE64") ? decoded(data) : encoded(data);
        if (bytes.length > settings.maxFileBytes().bytes()) {
            throw HandlerException.of(Reason.BODY_TOO_LARGE,
                    "a file has at most " + settings.maxFileBytes().bytes() + " bytes");
        }
        return FileContent.of(bytes);
    }

    private static byte[] decoded(String data) {
        try {
            return Base64.getDecoder().decode(data.replaceAll("[\r\n]", ""));
        } catch (IllegalArgumentException e) {
            throw HandlerException.of(Reason.BAD_REQUEST, "data is not base64");
        }
    }

    private static byte[] encoded(String data) {
        try {
            ByteBuffer buffer = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(data));
            byte[] bytes = new byte[buffer.remaining()];
            buffer.get(bytes);
            return bytes;
        } catch (CharacterCodingException e) {
            throw HandlerException.of(Reason.BAD_REQUEST,
                    "data has invalid characters: send it with encoding BASE64");
        }
    }
}
