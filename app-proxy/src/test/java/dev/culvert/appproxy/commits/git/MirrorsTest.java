package dev.culvert.appproxy.commits.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.culvert.config.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MirrorsTest {
    @TempDir
    Path folder;

    @Test
    void theOneUsedLongestAgoGoesWhenThereAreTooMany() throws IOException {
        try (var mirrors = new Mirrors(folder, 2, 1 << 20)) {
            mirrors.open();
            Mirror first = used(mirrors, "first");
            Mirror second = used(mirrors, "second");
            used(mirrors, "first");

            used(mirrors, "third");

            assertThat(mirrors.size()).isEqualTo(2);
            assertThat(first.folder()).exists();
            assertThat(second.folder()).doesNotExist();
        }
    }

    @Test
    void oneThatIsTooLargeGoesAtOnceAndThoseThatAreLentStay() throws IOException {
        try (var mirrors = new Mirrors(folder, 1, 1 << 20)) {
            mirrors.open();
            Mirror lent = mirrors.borrow("lent");
            Mirror large = mirrors.borrow("large");
            Files.write(large.folder().resolve("objects/pack/x.pack"), new byte[(1 << 20) + 1]);

            mirrors.giveBack("large", large);

            assertThat(large.folder()).doesNotExist();
            assertThat(lent.folder()).exists();
            assertThat(mirrors.size()).isEqualTo(1);
        }
    }

    @Test
    void whatAKilledProcessLeftIsDeletedAndNothingElse() throws IOException {
        try (var killed = new Mirrors(folder, 2, 1 << 20)) {
            killed.open();
            Files.writeString(killed.borrow("a").folder().resolve("shallow.lock"), "half");
        }
        Files.createDirectory(folder.resolve("precious"));

        try (var mirrors = new Mirrors(folder, 2, 1 << 20)) {
            mirrors.open();

            try (Stream<Path> left = Files.list(folder)) {
                assertThat(left.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("lock",
                        "precious");
            }
        }
    }

    @Test
    void oneThatFailedIsNotLentAgain() throws IOException {
        try (var mirrors = new Mirrors(folder, 2, 1 << 20)) {
            mirrors.open();
            Mirror failed = mirrors.borrow("a");

            mirrors.discard("a", failed);

            assertThat(failed.folder()).doesNotExist();
            Mirror lost = mirrors.borrow("a");
            assertThat(mirrors.borrow("a")).isNotSameAs(lost);
        }
    }

    @Test
    void aFolderIsThatOfOneProcess() throws IOException {
        try (var mirrors = new Mirrors(folder, 2, 1 << 20); var other = new Mirrors(folder, 2, 1 << 20)) {
            mirrors.open();

            assertThatExceptionOfType(ConfigException.class).isThrownBy(other::open);
        }
    }

    private static Mirror used(Mirrors mirrors, String key) throws IOException {
        Mirror mirror = mirrors.borrow(key);
        mirrors.giveBack(key, mirror);
        return mirror;
    }
}
