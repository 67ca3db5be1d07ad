/**
 * Who may use how much of what is scarce. A {@link dev.culvert.edge.quota.Quota} is one scarce thing (bytes, or places) and
 * counts its use for each account; {@link dev.culvert.edge.quota.SourceAddress} is the account of a caller. Read Quota first.
 */
@NullMarked
package dev.culvert.edge.quota;

import org.jspecify.annotations.NullMarked;
