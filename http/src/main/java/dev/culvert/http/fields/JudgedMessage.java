package dev.culvert.http.fields;

import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.LastHttpContent;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Applies the verdict of {@link Http1Grammar} to what a decoder made of the same octets. */
public final class JudgedMessage {
    private JudgedMessage() {}

    /** The octets are at fault. The message says why. */
    public static final class Fault extends IllegalArgumentException {
        private static final long serialVersionUID = 1;

        Fault(String why) {
            super(why);
        }

        @Override
        public synchronized Throwable fillInStackTrace() {
            return this; // a peer's mistake
        }
    }

    /**
     * Fails the first of the decoded parts if the octets are at fault, or if the decoder and the grammar
     * disagree about the end of the message. Call it after each step of the decoder that gave parts.
     *
     * @param out what the decoder gave, from {@code first}: HttpObjects of one message
     * @return whether no part has failed, by this or by the decoder
     */
    public static boolean isSound(Http1Grammar grammar, List<Object> out, int first) {
        Throwable failed = failure(out, first);
        String fault = grammar.fault();
        if (fault == null && failed instanceof TooLongFrameException) {
            return false;
        }
        if (fault == null && failed == null && !isSwitch(out.get(first))
                && grammar.isBetweenMessages() != out.getLast() instanceof LastHttpContent) {
            fault = "it does not end where it says";
        }
        if (fault != null) {
            fail(out, first, fault);
        }
        return fault == null && failed == null;
    }

    private static @Nullable Throwable failure(List<Object> out, int first) {
        for (int i = first; i < out.size(); i++) {
            DecoderResult result = ((HttpObject) out.get(i)).decoderResult();
            if (result.isFailure()) {
                return result.cause();
            }
        }
        return null;
    }

    private static void fail(List<Object> out, int first, String fault) {
        HttpObject part = (HttpObject) out.get(first);
        if (LastHttpContent.EMPTY_LAST_CONTENT.equals(part)) { // shared by all messages
            part = new DefaultLastHttpContent();
            out.set(first, part);
        }
        part.setDecoderResult(DecoderResult.failure(new Fault(fault)));
    }

    /** A 101 ends with its head, and octets of another protocol follow. */
    private static boolean isSwitch(Object message) {
        return message instanceof HttpResponse response && response.status().code() == 101;
    }
}
