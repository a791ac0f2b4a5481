// The theme of the page, kept for the next visit.

import { effect, signal } from '@preact/signals'

const themeKey = 'errand.theme'

export type Theme = 'auto' | 'light' | 'dark'
export const theme = signal<Theme>((localStorage.getItem(themeKey) as Theme | null) ?? 'auto')
effect(() => {
  localStorage.setItem(themeKey, theme.value)
  if (theme.value === 'auto') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
})
