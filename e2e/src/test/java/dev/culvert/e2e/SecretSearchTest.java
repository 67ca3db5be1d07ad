package dev.culvert.e2e;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SecretSearchTest {
    private static final String SECRET = "ghp_a?b>c~Secret";
    private static final SecretSearch SEARCH = new SecretSearch(List.of("other-secret", SECRET));

    @ParameterizedTest
    @ValueSource(strings = {"", "u:", "us:", "use:", "user:"})
    void aSecretIsFoundWhereverItBeginsInBase64(String before) {
        byte[] pair = (before + SECRET + "/end").getBytes(StandardCharsets.UTF_8);

        assertThat(SEARCH.in("Basic " + Base64.getEncoder().encodeToString(pair)))
                .containsExactly(SECRET + " in base64");
        assertThat(SEARCH.in("Basic " + Base64.getUrlEncoder().encodeToString(pair)))
                .containsExactly(SECRET + " in base64");
    }

    @Test
    void aSecretIsFoundAsItIsAndInHex() {
        byte[] bytes = SECRET.getBytes(StandardCharsets.UTF_8);

        assertThat(SEARCH.in("token=" + SECRET)).containsExactly(SECRET);
        assertThat(SEARCH.in(HexFormat.of().formatHex(bytes))).containsExactly(SECRET + " in hex");
        assertThat(SEARCH.in(HexFormat.of().withUpperCase().formatHex(bytes)))
                .containsExactly(SECRET + " in hex");
        assertThat(SEARCH.in("ghp_another")).isEmpty();
    }

    @Test
    void allFilesOfAFolderAreRead(@TempDir Path folder) throws Exception {
        Path below = Files.createDirectory(folder.resolve("below"));
        Files.writeString(folder.resolve("clean"), "nothing");
        Files.writeString(below.resolve("database"), "\0\0" + SECRET + "\0");

        assertThat(SEARCH.in(folder)).containsExactly("database: " + SECRET);
    }
}
