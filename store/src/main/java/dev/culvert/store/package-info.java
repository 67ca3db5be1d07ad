/** SQLite files: schema versions, the lease of one process, copies for backups. */
@NullMarked
package dev.culvert.store;

import org.jspecify.annotations.NullMarked;
