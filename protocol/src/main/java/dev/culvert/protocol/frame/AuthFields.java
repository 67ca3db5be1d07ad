package dev.culvert.protocol.frame;

import dev.culvert.protocol.frame.Frame.Auth;
import dev.culvert.protocol.frame.Frame.AuthAnswer;
import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** The field list of AUTH (docs/protocol.md §4.1): a certificate with its proof, or the answer to them. */
final class AuthFields {
    private static final int CERTIFICATE = 1;
    private static final int PROOF = 2;
    private static final int ANSWER = 3;
    private static final byte[] NONE = {};

    private byte[] certificate = NONE;
    private byte[] proof = NONE;
    private @Nullable AuthAnswer answer;

    private AuthFields() {}

    static void write(Auth auth, ByteBuf out) {
        OpeningFields.field(CERTIFICATE, auth.certificate().length, out).writeBytes(auth.certificate());
        OpeningFields.field(PROOF, auth.proof().length, out).writeBytes(auth.proof());
    }

    static void write(AuthAnswer answer, ByteBuf out) {
        byte[] detail = FrameCodec.fitting(answer.detail()).getBytes(StandardCharsets.UTF_8);
        OpeningFields.field(ANSWER, 2 + detail.length, out)
                .writeShort(answer.code().number())
                .writeBytes(detail);
    }

    /** Reads the fields. An {@link Auth} has two fields, an {@link AuthAnswer} has one. */
    static Frame read(ByteBuf in) {
        AuthFields fields = new AuthFields();
        OpeningFields.readFields(in, 0, tag -> fields.read(tag, in));
        boolean claims = fields.certificate.length > 0 && fields.proof.length > 0;
        AuthAnswer answer = fields.answer;
        if (answer != null && fields.certificate.length + fields.proof.length == 0) {
            return answer;
        }
        if (answer != null || !claims) {
            throw ProtocolException.session(ErrorCode.PROTOCOL, "AUTH is neither a claim nor an answer");
        }
        return new Auth(fields.certificate, fields.proof);
    }

    private boolean read(int tag, ByteBuf in) {
        switch (tag) {
            case CERTIFICATE -> certificate = bytes(in, FrameCodec.MAX_CERTIFICATE);
            case PROOF -> proof = bytes(in, FrameCodec.MAX_PROOF);
            case ANSWER ->
                answer = new AuthAnswer(ErrorCode.of(in.readUnsignedShort()), FrameCodec.detail(in));
            default -> {
                return false;
            }
        }
        return true;
    }

    private static byte[] bytes(ByteBuf in, int max) {
        if (in.readableBytes() > max) {
            throw ProtocolException.session(ErrorCode.PROTOCOL,
                    "a field of AUTH is longer than " + max + " bytes");
        }
        byte[] bytes = new byte[in.readableBytes()];
        in.readBytes(bytes);
        return bytes;
    }
}
