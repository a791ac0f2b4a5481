// The suggestion at the end of an error message, with a blank before it; empty when no name is near enough.

export function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`
}
