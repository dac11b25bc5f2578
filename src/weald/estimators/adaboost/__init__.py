"""AdaBoost of stumps, trees and any other estimator."""
