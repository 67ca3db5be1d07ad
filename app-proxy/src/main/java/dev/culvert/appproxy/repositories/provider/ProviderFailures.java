package dev.culvert.appproxy.repositories.provider;

import com.fasterxml.jackson.databind.JsonNode;
import dev.culvert.appproxy.credentials.GitToken;
import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import io.netty.handler.timeout.ReadTimeoutException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLException;

/** Maps failures of a provider to errors for the caller. The errors never contain a token. */
final class ProviderFailures {
    private static final int MAX_DETAIL = 300;

    private final String name;

    ProviderFailures(String name) {
        this.name = name;
    }

    HandlerException ofReply(ProviderReply reply, GitToken token) {
        int status = reply.status();
        String said = said(reply, token);
        return switch (status) {
            case 401 -> HandlerException.of(Reason.FORBIDDEN, name
                    + " refuses the Git token (401): it may have expired; register a new one");
            case 403 -> HandlerException.of(Reason.FORBIDDEN,
                    name + " does not allow this Git token to do that (403)" + said);
            case 404 -> HandlerException.of(Reason.NOT_FOUND,
                    name + " has no such thing, or the Git token may not see it" + said);
            case 409 -> HandlerException.of(Reason.CONFLICT, name + " refuses it as a conflict" + said);
            case 400, 422 -> HandlerException.of(
                    said.contains("already exists") ? Reason.CONFLICT : Reason.BAD_REQUEST,
                    name + " refuses the request" + said);
            default -> HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE,
                    name + " answered " + status + ", which is not understood");
        };
    }

    Throwable ofTransport(Throwable error) {
        return switch (error) {
            case HandlerException known -> known;
            case TimeoutException e ->
                HandlerException.of(Reason.UPSTREAM_TIMEOUT, name + " did not answer in time");
            case ReadTimeoutException e ->
                HandlerException.of(Reason.UPSTREAM_TIMEOUT, name + " did not answer in time");
            case SSLException e -> HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE, name
                    + " showed a TLS certificate that is not trusted here; the operator can set ca for it");
            case ConnectException e ->
                HandlerException.of(Reason.UNAVAILABLE, name + " could not be reached");
            case UnknownHostException e ->
                HandlerException.of(Reason.UNAVAILABLE, name + " could not be reached");
            default ->
                HandlerException.of(Reason.UPSTREAM_BAD_RESPONSE, name + " broke off, or answered too much");
        };
    }

    /** The provider's own message from its JSON, in one bounded line. */
    private static String said(ProviderReply reply, GitToken token) {
        String text = "";
        try {
            JsonNode json = reply.json();
            JsonNode message = json.path("message");
            text = message.isTextual() ? message.asText() : message.path(0).asText("");
            String error = json.at("/errors/0/message").asText(json.at("/error/message").asText(""));
            text = text.isEmpty() || error.isEmpty() ? text + error : text + ": " + error;
        } catch (HandlerException e) {
            return "";
        }
        String line = text.replaceAll("\\p{Cntrl}", " ").replace(token.value(), "***").strip();
        return line.isEmpty() ? "" : ": " + line.substring(0, Math.min(line.length(), MAX_DETAIL));
    }
}
