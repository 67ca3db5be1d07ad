package dev.culvert.appproxy.commits.git;

import dev.culvert.handlers.spi.HandlerException;
import dev.culvert.handlers.spi.HandlerException.Reason;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.jgit.errors.PackProtocolException;
import org.eclipse.jgit.errors.TransportException;
import org.eclipse.jgit.lib.Constants;
import org.eclipse.jgit.lib.NullProgressMonitor;
import org.eclipse.jgit.lib.ObjectId;
import org.eclipse.jgit.lib.ObjectIdRef;
import org.eclipse.jgit.lib.Ref;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.transport.Connection;
import org.eclipse.jgit.transport.FetchConnection;
import org.eclipse.jgit.transport.FilterSpec;
import org.eclipse.jgit.transport.PushConnection;
import org.eclipse.jgit.transport.RefSpec;
import org.eclipse.jgit.transport.RemoteRefUpdate;
import org.eclipse.jgit.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * A repository behind smart HTTP with a mirror of the objects read from it. Each view queries the remote with
 * the user's own token, so the mirror never shows a user more than the remote would. Fetches only the newest
 * commit of a branch, without files where the remote supports that.
 *
 * @param mirror borrowed by the creator of this remote
 * @param maxBytes the maximum size of a fetch
 */
public record HttpRemote(SmartHttp http, Mirror mirror, long maxBytes) implements Remote {
    private static final int MAX_REFUSAL = 300;

    @Override
    public View open(Purpose purpose) throws IOException {
        Transport transport = http.transport(mirror.objects());
        try {
            return new HttpView(transport,
                    purpose == Purpose.WRITE ? transport.openPush() : transport.openFetch());
        } catch (IOException | RuntimeException e) {
            transport.close();
            throw e;
        }
    }

    private void fetch(Branch branch) throws IOException {
        if (mirror.partial()) {
            try {
                fetch(branch, true);
                return;
            } catch (TransportException e) {
                if (!(e.getCause() instanceof PackProtocolException)) {
                    throw e;
                }
                mirror.complete(); // this remote does not support filters
            }
        }
        fetch(branch, false);
    }

    private void fetch(Branch branch, boolean withoutFiles) throws IOException {
        try (Transport transport = http.transport(mirror.objects())) {
            transport.setDepth(1);
            if (withoutFiles) {
                transport.setFilterSpec(FilterSpec.fromFilterLine("blob:none"));
            }
            try (FetchConnection connection = transport
                    .openFetch(List.of(new RefSpec(branch.ref() + ":" + branch.ref())))) {
                Ref ref = connection.getRef(branch.ref());
                ObjectId tip = ref == null ? null : ref.getObjectId();
                if (ref != null && tip != null) {
                    receive(connection, ref, mirror.commits());
                    mirror.add(tip);
                }
            }
        }
    }

    private void receive(FetchConnection connection, Ref wanted, Set<ObjectId> have) throws IOException {
        var bound = new FetchBound(mirror.folder().resolve("objects").toFile(), maxBytes);
        try {
            connection.fetch(bound, List.of(wanted), have);
        } catch (TransportException e) {
            checkBound(bound);
            throw e;
        }
        checkBound(bound);
    }

    private void checkBound(FetchBound bound) {
        if (bound.exceeded()) {
            throw HandlerException.of(Reason.NOT_ALLOWED, "the branch has more than " + maxBytes
                    + " bytes, more than this cluster caches (handlers.commits.cacheBytes)");
        }
    }

    private final class HttpView implements View {
        private final Transport transport;
        private final Connection connection;
        private @Nullable Branch seen;

        HttpView(Transport transport, Connection connection) {
            this.transport = transport;
            this.connection = connection;
        }

        @Override
        public @Nullable ObjectId tip(Branch branch) throws IOException {
            seen = branch;
            Ref ref = connection.getRef(branch.ref());
            ObjectId tip = ref == null ? null : ref.getObjectId();
            if (tip != null && !mirror.has(tip)) {
                fetch(branch);
                if (!mirror.has(tip)) {
                    throw new BranchMoved();
                }
            }
            return tip;
        }

        @Override
        public boolean empty() {
            Collection<Ref> refs = connection.getRefs();
            return refs.stream().noneMatch(ref -> ref.getName().startsWith(Constants.R_HEADS));
        }

        @Override
        public Repository objects() {
            return mirror.objects();
        }

        @Override
        public void provide(ObjectId id) throws IOException {
            if (!mirror.objects().getObjectDatabase().has(id)) {
                fetchBlob(id);
            }
        }

        private void fetchBlob(ObjectId id) throws IOException {
            try (Transport direct = http.transport(mirror.objects());
                    FetchConnection single = direct.openFetch()) {
                receive(single, new ObjectIdRef.Unpeeled(Ref.Storage.NETWORK, id.name(), id), Set.of());
            } catch (TransportException e) {
                Branch branch = seen;
                if (branch == null) {
                    throw e;
                }
                mirror.complete(); // this remote does not serve single objects
                fetch(branch);
            }
        }

        @Override
        public boolean land(Branch branch, @Nullable ObjectId tip, ObjectId commit) throws IOException {
            var update = new RemoteRefUpdate(mirror.objects(), commit.name(), commit, branch.ref(), false,
                    null, null);
            try {
                ((PushConnection) connection).push(NullProgressMonitor.INSTANCE,
                        Map.of(branch.ref(), update));
            } catch (TransportException e) {
                return landedAllTheSame(branch, commit, e);
            }
            if (update.getStatus() == RemoteRefUpdate.Status.OK) {
                mirror.add(commit);
                return true;
            }
            if (!moved(branch, tip, update.getMessage())) {
                throw HandlerException.of(Reason.FORBIDDEN,
                        "the Git provider refuses the commit: " + readable(update.getMessage()));
            }
            return false;
        }

        /** Checks whether the commit landed although the response was lost. */
        private boolean landedAllTheSame(Branch branch, ObjectId commit, TransportException error)
                throws IOException {
            if (!commit.equals(now(branch))) {
                throw error;
            }
            mirror.add(commit);
            return true;
        }

        private boolean moved(Branch branch, @Nullable ObjectId tip, @Nullable String refusal)
                throws IOException {
            ObjectId now = now(branch);
            return (tip == null ? now != null : !tip.equals(now))
                    || GitFailure.ofLock(refusal);
        }

        private @Nullable ObjectId now(Branch branch) throws IOException {
            try (PushConnection again = transport.openPush()) {
                Ref ref = again.getRef(branch.ref());
                return ref == null ? null : ref.getObjectId();
            }
        }

        @Override
        public void close() {
            connection.close();
            transport.close();
        }
    }

    private static String readable(@Nullable String refusal) {
        String text = String.valueOf(refusal).replaceAll("\\p{Cntrl}+", " ").strip();
        return text.length() > MAX_REFUSAL ? text.substring(0, MAX_REFUSAL) + "..." : text;
    }
}
