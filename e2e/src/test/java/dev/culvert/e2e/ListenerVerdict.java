package dev.culvert.e2e;

import dev.culvert.relay.testing.CorpusCase;
import dev.culvert.relay.testing.CorpusRun;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.net.ssl.SSLException;

/**
 * What a listener made of a case of the corpus: how it answered the requests, and whether it served the request behind them.
 * Answers of its routes count as accepted, whatever their status.
 */
final class ListenerVerdict {
    private static final int PATIENCE_MILLIS = 20_000;
    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 ([2-5]\\d\\d) ");
    private static final Pattern CAUSE = Pattern.compile("urn:culvert:problem:([a-z-]+)");
    /** What a parser refuses. A listener's routes may answer 400 as well, and stay open. */
    private static final List<String> REFUSALS = List.of("400", "414", "431", "501");

    private ListenerVerdict() {}

    /**
     * Sends the case and a request behind it, and returns the answers' statuses, with causes of problems.
     *
     * @param dated whether each answer needs a Date
     */
    static List<String> answers(CorpusCase given, int port, String host, boolean dated) throws IOException {
        return answers(given, new Socket(InetAddress.getLoopbackAddress(), port), host, dated);
    }

    /** The same on a connection that is open, over TLS or not, which is closed in the end. */
    static List<String> answers(CorpusCase given, Socket connection, String host, boolean dated)
            throws IOException {
        String bytes = given.bytes(host) + "GET " + CorpusRun.BEHIND + " HTTP/1.1\r\nHost: " + host
                + "\r\nConnection: close\r\n\r\n";
        try (Socket socket = connection) {
            send(bytes, socket);
            return of(readAll(socket), dated);
        }
    }

    /** Sends the case and ends what it sends, closes the connection in the end, and returns the answers. */
    static List<String> answersToHalf(CorpusCase given, Socket connection, String host) throws IOException {
        try (Socket socket = connection) {
            send(given.bytes(host), socket);
            socket.shutdownOutput();
            return of(readAll(socket), false);
        }
    }

    private static void send(String bytes, Socket socket) throws SocketException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        try {
            socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            // refused before it was sent whole: the answer is there
        }
    }

    private static String readAll(Socket socket) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try {
            socket.getInputStream().transferTo(bytes);
        } catch (SocketException | SSLException e) {
            // closed with bytes unread
        }
        return bytes.toString(StandardCharsets.ISO_8859_1);
    }

    private static List<String> of(String bytes, boolean dated) {
        List<MatchResult> heads = STATUS.matcher(bytes).results().toList();
        List<String> answers = new ArrayList<>();
        for (int i = 0; i < heads.size(); i++) {
            int end = i + 1 < heads.size() ? heads.get(i + 1).start() : bytes.length();
            String answer = bytes.substring(heads.get(i).start(), end);
            var cause = CAUSE.matcher(answer);
            answers.add(heads.get(i).group(1) + (cause.find() ? " " + cause.group(1) : ""));
            if (dated && !answer.toLowerCase(Locale.ROOT).contains("\r\ndate: ")) {
                answers.add("without a Date");
            }
        }
        return answers;
    }

    /** Whether the answers are the edge's verdict. */
    static boolean isAsAtTheEdge(CorpusCase given, List<String> answers) {
        List<String> expected = new ArrayList<>(given.answers());
        if (given.open()) {
            expected.add("200");
        }
        if (answers.size() != expected.size()) {
            return false;
        }
        for (int i = 0; i < expected.size(); i++) {
            boolean last = i + 1 == expected.size();
            if (!isAlike(expected.get(i), answers.get(i), last && !given.open())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether the answers are a tunnel listener's verdict. It closes behind each refusal, and its routes refuse everything
     * that is no client's, so the first answer is the only one. It allows smaller heads than the edge.
     */
    static boolean isTunnels(CorpusCase given, List<String> answers) {
        if (answers.size() != 1) {
            return false;
        }
        String expected = given.answers().getFirst();
        String answer = answers.getFirst();
        return isRefusal(expected) ? answer.equals(expected) : answer.matches("4\\d\\d.*");
    }

    /**
     * Whether an answer is of the kind that the edge gives.
     *
     * @param closing whether nothing is served behind it: then a route may have answered before the fault came
     */
    private static boolean isAlike(String expected, String answer, boolean closing) {
        if (isRefusal(expected)) {
            return answer.equals(expected) || (closing && answer.startsWith("4"));
        }
        return expected.startsWith("405") ? answer.equals(expected) : answer.matches("[2-4]\\d\\d.*");
    }

    /** Whether it is an answer of a parser, not of a route. */
    static boolean isRefusal(String answer) {
        return REFUSALS.contains(answer.substring(0, 3));
    }
}
