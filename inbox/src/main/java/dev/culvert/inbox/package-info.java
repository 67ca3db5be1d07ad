/**
 * The durable inbox before event sources: stores each webhook with one fsync before anything else, answers
 * its caller, and delivers it, in order per event source, until the source has responded. Read
 * {@link dev.culvert.inbox.Inbox} first, then {@link dev.culvert.inbox.intake.InboxRelay}, which receives
 * webhooks. {@code CommitThread} makes them durable, {@code DispatchPlan} chooses the next one,
 * {@code Attempt} sends it.
 *
 * <p>Four kinds of threads: event loops of callers and attempts, which never block; one thread that writes
 * the database; one that chooses the next webhook; a few that read the database and read and write spool
 * files.
 */
@NullMarked
package dev.culvert.inbox;

import org.jspecify.annotations.NullMarked;
