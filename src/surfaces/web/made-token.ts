// A bearer token for a server that was given none.
import { createRandomIds } from '../../ids.ts'

/** 52 letters and digits: more than 256 bits of chance. */
export function makeToken(): string {
  const ids = createRandomIds()
  return Array.from({ length: 4 }, () => ids.next('x').replace('x-', '')).join('')
}
