/** Fair shares of limited resources for accounts, such as source addresses. */
@NullMarked
package dev.culvert.http.quota;

import org.jspecify.annotations.NullMarked;
