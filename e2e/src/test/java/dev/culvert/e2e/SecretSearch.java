package dev.culvert.e2e;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** Looks for secrets: as they are, in base64 wherever in the encoded text they begin, and in hex. */
final class SecretSearch {
    /** What to look for, with what it is. */
    private final Map<String, String> forms = new TreeMap<>();

    SecretSearch(List<String> secrets) {
        for (String secret : secrets) {
            byte[] bytes = secret.getBytes(StandardCharsets.UTF_8);
            forms.put(secret, secret);
            forms.put(HexFormat.of().formatHex(bytes), secret + " in hex");
            forms.put(HexFormat.of().formatHex(bytes).toUpperCase(Locale.ROOT), secret + " in hex");
            for (int before = 0; before < 3; before++) {
                forms.put(encoded(Base64.getEncoder(), bytes, before), secret + " in base64");
                forms.put(encoded(Base64.getUrlEncoder(), bytes, before), secret + " in base64");
            }
        }
    }

    /** The characters that are the same whatever stands before and after the secret, of which {@code before} bytes share its first group. */
    private static String encoded(Base64.Encoder encoder, byte[] secret, int before) {
        byte[] shifted = new byte[before + secret.length];
        System.arraycopy(secret, 0, shifted, before, secret.length);
        String text = encoder.encodeToString(shifted);
        return text.substring((before * 8 + 5) / 6, shifted.length * 8 / 6);
    }

    /** Which secrets that text has, and how. */
    List<String> in(String text) {
        return forms.entrySet()
                .stream()
                .filter(form -> text.contains(form.getKey()))
                .map(Map.Entry::getValue)
                .distinct()
                .toList();
    }

    /** Which secrets the files of that folder have, and where. */
    List<String> in(Path folder) throws IOException {
        var found = new ArrayList<String>();
        try (var files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                in(Files.readString(file, StandardCharsets.ISO_8859_1))
                        .forEach(secret -> found.add(file.getFileName() + ": " + secret));
            }
        }
        return found;
    }
}
