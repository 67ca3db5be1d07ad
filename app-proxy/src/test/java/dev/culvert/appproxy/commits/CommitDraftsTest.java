package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.appproxy.commits.git.Branch;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommitDraftsTest {
    private final CommitDrafts drafts = new CommitDrafts(CommitsSettings.of(Path.of("cache"), null),
            InstantSource.system());

    @Test
    void whatIsNoBase64IsRefusedAndLineEndsInItAreNot() {
        var change = (FileChange.Write) draft("YWJj\r\nZGVm\n").changes().getFirst();

        assertThat(change.content().length()).isEqualTo("abcdef".length());
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> draft("replicas: 2"))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.BAD_REQUEST));
    }

    private CommitDraft draft(String data) {
        return drafts.writing(FakeAccess.caller("ada"), new Branch("main"),
                new CommitArguments(Map.of("msg", "m",
                        "files", List.of(Map.of("path", "f", "encoding", "BASE64", "data", data)))));
    }
}
