// The half-sentence that names the nearest thing to what was written, with a blank before it; nothing when none is near.

export function didYouMean(nearest: string | undefined): string {
  return nearest === undefined ? '' : ` Did you mean "${nearest}"?`
}
