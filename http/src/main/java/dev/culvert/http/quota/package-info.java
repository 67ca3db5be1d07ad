/** Shares of something scarce among accounts, such as source addresses. */
@NullMarked
package dev.culvert.http.quota;

import org.jspecify.annotations.NullMarked;
