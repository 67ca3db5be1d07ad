package dev.culvert.appproxy.commits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.edge.spi.HandlerException;
import dev.culvert.edge.spi.HandlerException.Reason;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DraftsTest {
    private final Drafts drafts = new Drafts(CommitsSettings.of(Path.of("cache"), null),
            InstantSource.system());

    @Test
    void whatIsNoBase64IsRefusedAndLineEndsInItAreNot() {
        var change = (FileChange.Write) draft("YWJj\r\nZGVm\n").changes().getFirst();

        assertThat(change.content().length()).isEqualTo("abcdef".length());
        assertThatExceptionOfType(HandlerException.class).isThrownBy(() -> draft("replicas: 2"))
                .satisfies(error -> assertThat(error.reason()).isEqualTo(Reason.BAD_REQUEST));
    }

    private Draft draft(String data) {
        return drafts.writing(FakeAccess.caller("ada"), new Branch("main"), new Arguments(Map.of("msg", "m",
                "files", List.of(Map.of("path", "f", "encoding", "BASE64", "data", data)))));
    }
}
