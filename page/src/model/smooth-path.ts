// Smooth lines through points.

import type { Point } from './graph-layout.ts'

/** A line through points as an SVG path with rounded corners. */
export function smoothPath(points: readonly Point[]): string {
  const [first, ...rest] = points
  if (first === undefined) return ''
  if (rest.length < 2) return `M${first.x},${first.y}` + rest.map(({ x, y }) => `L${x},${y}`).join('')
  let path = `M${first.x},${first.y}`
  for (let index = 0; index < rest.length - 1; index++) {
    const corner = rest[index] as Point
    const next = rest[index + 1] as Point
    const isLast = index === rest.length - 2
    const end = isLast ? next : { x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 }
    path += `Q${corner.x},${corner.y} ${end.x},${end.y}`
  }
  return path
}
