package dev.culvert.certs;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The openssl command, where a machine has it: an opinion from outside. */
final class Openssl {
    private Openssl() {}

    static boolean available() {
        try {
            return new ProcessBuilder("openssl", "version").start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Runs a command with words separated by single spaces; its output, or an AssertionError if it fails. */
    static String run(Path folder, String command) throws IOException, InterruptedException {
        List<String> words = new ArrayList<>(List.of("openssl"));
        words.addAll(List.of(command.split(" ", -1)));
        Process process = new ProcessBuilder(words).directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new AssertionError(command + ": " + output);
        }
        return output;
    }
}
