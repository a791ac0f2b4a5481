// Failures that a person has dismissed, kept in this browser.

import { effect, signal } from '@preact/signals'

const key = 'errand.dismissed'
const maxKept = 2_000

export const dismissed = signal<ReadonlySet<string>>(new Set(stored()))

function stored(): string[] {
  try {
    return JSON.parse(localStorage.getItem(key) ?? '[]') as string[]
  } catch {
    return []
  }
}

effect(() => localStorage.setItem(key, JSON.stringify([...dismissed.value].slice(-maxKept))))

/** @param failures from `failureOf`. */
export function dismiss(failures: readonly string[]): void {
  dismissed.value = new Set([...dismissed.peek(), ...failures])
}
